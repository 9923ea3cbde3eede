from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.metric_dimensions_item import (
    MetricDimensionsItem,
    check_metric_dimensions_item,
)
from ..models.metric_kind import MetricKind, check_metric_kind
from ..models.metric_name import MetricName, check_metric_name
from ..models.metric_unit_type_0 import MetricUnitType0, check_metric_unit_type_0

T = TypeVar("T", bound="Metric")


@_attrs_define
class Metric:
    """
    Attributes:
        description (str): What it counts.
        dimensions (list[MetricDimensionsItem]): Dimensions that it can be divided and filtered by.
        kind (MetricKind): sum: rows add up to totals. distinct: two rows may count the same thing. rate: one number
            divided by another. quantile: of times.
        name (MetricName): Name of the metric.
        nullable (bool): Null where nothing was counted that it could be of; other metrics are zero there.
        unit (MetricUnitType0 | None): Null for numbers and rates.
    """

    description: str
    dimensions: list[MetricDimensionsItem]
    kind: MetricKind
    name: MetricName
    nullable: bool
    unit: MetricUnitType0 | None

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        dimensions = []
        for dimensions_item_data in self.dimensions:
            dimensions_item: str = dimensions_item_data
            dimensions.append(dimensions_item)

        kind: str = self.kind

        name: str = self.name

        nullable = self.nullable

        unit: None | str
        if isinstance(self.unit, str):
            unit = self.unit
        else:
            unit = self.unit

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "description": description,
                "dimensions": dimensions,
                "kind": kind,
                "name": name,
                "nullable": nullable,
                "unit": unit,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        description = d.pop("description")

        dimensions = []
        _dimensions = d.pop("dimensions")
        for dimensions_item_data in _dimensions:
            dimensions_item = check_metric_dimensions_item(dimensions_item_data)

            dimensions.append(dimensions_item)

        kind = check_metric_kind(d.pop("kind"))

        name = check_metric_name(d.pop("name"))

        nullable = d.pop("nullable")

        def _parse_unit(data: object) -> MetricUnitType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                unit_type_0 = check_metric_unit_type_0(data)

                return unit_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MetricUnitType0 | None, data)

        unit = _parse_unit(d.pop("unit"))

        metric = cls(
            description=description,
            dimensions=dimensions,
            kind=kind,
            name=name,
            nullable=nullable,
            unit=unit,
        )

        return metric
