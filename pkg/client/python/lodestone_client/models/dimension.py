from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.dimension_metrics_item import (
    DimensionMetricsItem,
    check_dimension_metrics_item,
)
from ..models.dimension_name import DimensionName, check_dimension_name
from ..models.dimension_type import DimensionType, check_dimension_type

T = TypeVar("T", bound="Dimension")


@_attrs_define
class Dimension:
    """
    Attributes:
        maximum (int | None): Highest number that can be given; null for other types.
        metrics (list[DimensionMetricsItem]): Metrics that can be divided and filtered by it.
        minimum (int | None): Lowest number that can be given; null for other types.
        name (DimensionName): Name of the dimension, in dimensions, filters and exclude.
        nullable (bool): Null is a value, which stands for none.
        requires (None | str): Field that must be true in a question with it; null: none.
        type_ (DimensionType): Type of its values.
        values (list[str]): All values there are; empty if they are not known beforehand.
    """

    maximum: int | None
    metrics: list[DimensionMetricsItem]
    minimum: int | None
    name: DimensionName
    nullable: bool
    requires: None | str
    type_: DimensionType
    values: list[str]

    def to_dict(self) -> dict[str, Any]:
        maximum: int | None
        maximum = self.maximum

        metrics = []
        for metrics_item_data in self.metrics:
            metrics_item: str = metrics_item_data
            metrics.append(metrics_item)

        minimum: int | None
        minimum = self.minimum

        name: str = self.name

        nullable = self.nullable

        requires: None | str
        requires = self.requires

        type_: str = self.type_

        values = self.values

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "maximum": maximum,
                "metrics": metrics,
                "minimum": minimum,
                "name": name,
                "nullable": nullable,
                "requires": requires,
                "type": type_,
                "values": values,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_maximum(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        maximum = _parse_maximum(d.pop("maximum"))

        metrics = []
        _metrics = d.pop("metrics")
        for metrics_item_data in _metrics:
            metrics_item = check_dimension_metrics_item(metrics_item_data)

            metrics.append(metrics_item)

        def _parse_minimum(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        minimum = _parse_minimum(d.pop("minimum"))

        name = check_dimension_name(d.pop("name"))

        nullable = d.pop("nullable")

        def _parse_requires(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        requires = _parse_requires(d.pop("requires"))

        type_ = check_dimension_type(d.pop("type"))

        values = cast(list[str], d.pop("values"))

        dimension = cls(
            maximum=maximum,
            metrics=metrics,
            minimum=minimum,
            name=name,
            nullable=nullable,
            requires=requires,
            type_=type_,
            values=values,
        )

        return dimension
