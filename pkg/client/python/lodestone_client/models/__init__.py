"""Contains all the data models used in inputs/outputs"""

from .access_link import AccessLink
from .access_link_source import AccessLinkSource
from .account import Account
from .account_brand_font import AccountBrandFont
from .account_language_type_0 import AccountLanguageType0
from .account_notify import AccountNotify
from .account_plan import AccountPlan
from .account_reading_notices import AccountReadingNotices
from .allowance import Allowance
from .answers import Answers
from .api_key import APIKey
from .api_key_scopes_item import APIKeyScopesItem
from .attempt import Attempt
from .batch import Batch
from .changed_access_link import ChangedAccessLink
from .changed_account import ChangedAccount
from .changed_account_brand_font import ChangedAccountBrandFont
from .changed_account_language_type_0 import ChangedAccountLanguageType0
from .changed_account_notify import ChangedAccountNotify
from .changed_account_reading_notices import ChangedAccountReadingNotices
from .changed_channel import ChangedChannel
from .changed_channel_about_item import ChangedChannelAboutItem
from .changed_generic_link import ChangedGenericLink
from .changed_generic_link_language_type_0 import ChangedGenericLinkLanguageType0
from .changed_generic_link_reading_notices_type_0 import (
    ChangedGenericLinkReadingNoticesType0,
)
from .changed_lead_magnet import ChangedLeadMagnet
from .changed_report import ChangedReport
from .changed_template import ChangedTemplate
from .changed_user import ChangedUser
from .changed_user_role import ChangedUserRole
from .changed_webhook import ChangedWebhook
from .changed_webhook_kinds_item import ChangedWebhookKindsItem
from .channel import Channel
from .channel_about_item import ChannelAboutItem
from .channel_kind import ChannelKind
from .cohort import Cohort
from .create_share_body import CreateShareBody
from .current_reader import CurrentReader
from .cursor_page_delivery import CursorPageDelivery
from .cursor_page_submission import CursorPageSubmission
from .cursor_pagination import CursorPagination
from .delivery import Delivery
from .delivery_body_type_0 import DeliveryBodyType0
from .delivery_kind import DeliveryKind
from .delivery_state import DeliveryState
from .dimension import Dimension
from .dimension_metrics_item import DimensionMetricsItem
from .dimension_name import DimensionName
from .dimension_type import DimensionType
from .email_summary import EmailSummary
from .entry import Entry
from .event import Event
from .event_event_data import EventEventData
from .event_event_type import EventEventType
from .event_page import EventPage
from .event_pagination import EventPagination
from .export_analytics_events_event_type import ExportAnalyticsEventsEventType
from .export_analytics_events_format import ExportAnalyticsEventsFormat
from .export_readers_format import ExportReadersFormat
from .export_readers_sort import ExportReadersSort
from .export_readers_without import ExportReadersWithout
from .export_submissions_format import ExportSubmissionsFormat
from .field import Field
from .full_webhook import FullWebhook
from .full_webhook_kinds_item import FullWebhookKindsItem
from .funnel_report import FunnelReport
from .funnel_step import FunnelStep
from .funnel_step_step import FunnelStepStep
from .generic_link import GenericLink
from .generic_link_language_type_0 import GenericLinkLanguageType0
from .generic_link_reading_notices_type_0 import GenericLinkReadingNoticesType0
from .get_access_link_qr_format import GetAccessLinkQrFormat
from .get_generic_link_qr_format import GetGenericLinkQrFormat
from .get_retention_by import GetRetentionBy
from .invitation import Invitation
from .invitation_role import InvitationRole
from .lead_magnet import LeadMagnet
from .link_preview import LinkPreview
from .list_analytics_events_event_type import ListAnalyticsEventsEventType
from .list_generic_links_sort import ListGenericLinksSort
from .list_readers_sort import ListReadersSort
from .list_readers_without import ListReadersWithout
from .list_submissions_sort import ListSubmissionsSort
from .list_webhook_deliveries_state import ListWebhookDeliveriesState
from .logo import Logo
from .logo_content_type import LogoContentType
from .metric import Metric
from .metric_dimensions_item import MetricDimensionsItem
from .metric_kind import MetricKind
from .metric_name import MetricName
from .metric_unit_type_0 import MetricUnitType0
from .new_access_link import NewAccessLink
from .new_access_links import NewAccessLinks
from .new_api_key import NewAPIKey
from .new_api_key_scopes_item import NewAPIKeyScopesItem
from .new_channel import NewChannel
from .new_channel_about_item import NewChannelAboutItem
from .new_channel_kind import NewChannelKind
from .new_generic_link import NewGenericLink
from .new_generic_link_language_type_0 import NewGenericLinkLanguageType0
from .new_generic_link_reading_notices_type_0 import NewGenericLinkReadingNoticesType0
from .new_invitation import NewInvitation
from .new_invitation_role import NewInvitationRole
from .new_key import NewKey
from .new_key_scopes_item import NewKeyScopesItem
from .new_lead_magnet import NewLeadMagnet
from .new_share import NewShare
from .new_template import NewTemplate
from .new_webhook import NewWebhook
from .new_webhook_kinds_item import NewWebhookKindsItem
from .now_report import NowReport
from .now_report_labels import NowReportLabels
from .object_ import Object
from .object_type import ObjectType
from .page import Page
from .page_access_link import PageAccessLink
from .page_api_key import PageAPIKey
from .page_channel import PageChannel
from .page_entry import PageEntry
from .page_generic_link import PageGenericLink
from .page_invitation import PageInvitation
from .page_lead_magnet import PageLeadMagnet
from .page_report import PageReport
from .page_session import PageSession
from .page_share import PageShare
from .page_template import PageTemplate
from .page_user import PageUser
from .page_version import PageVersion
from .page_visit import PageVisit
from .page_webhook import PageWebhook
from .pagination import Pagination
from .person_access_link import PersonAccessLink
from .person_access_link_source import PersonAccessLinkSource
from .person_access_link_utm_type_0 import PersonAccessLinkUtmType0
from .person_address import PersonAddress
from .person_answer import PersonAnswer
from .person_answer_body import PersonAnswerBody
from .person_chat_message import PersonChatMessage
from .person_document import PersonDocument
from .person_document_events_item import PersonDocumentEventsItem
from .person_download import PersonDownload
from .person_erasure import PersonErasure
from .person_form import PersonForm
from .person_form_field import PersonFormField
from .person_key import PersonKey
from .person_mail import PersonMail
from .person_mail_lead import PersonMailLead
from .person_notice import PersonNotice
from .person_notice_send import PersonNoticeSend
from .person_reading import PersonReading
from .person_report import PersonReport
from .person_report_event_type import PersonReportEventType
from .person_session import PersonSession
from .person_submission import PersonSubmission
from .person_submission_utm_type_0 import PersonSubmissionUtmType0
from .person_verification import PersonVerification
from .preview import Preview
from .problem import Problem
from .problem_code import ProblemCode
from .question import Question
from .question_answer import QuestionAnswer
from .question_answer_labels import QuestionAnswerLabels
from .question_answer_rows_item import QuestionAnswerRowsItem
from .question_answer_totals import QuestionAnswerTotals
from .question_compare import QuestionCompare
from .question_dimensions_item import QuestionDimensionsItem
from .question_interval import QuestionInterval
from .question_limits import QuestionLimits
from .question_metrics_item import QuestionMetricsItem
from .question_order_by import QuestionOrderBy
from .question_schema import QuestionSchema
from .question_schema_intervals_item import QuestionSchemaIntervalsItem
from .questions import Questions
from .questions_compare import QuestionsCompare
from .questions_dimensions_item import QuestionsDimensionsItem
from .questions_interval import QuestionsInterval
from .questions_metrics_item import QuestionsMetricsItem
from .questions_order_by import QuestionsOrderBy
from .reader import Reader
from .reader_download import ReaderDownload
from .reader_download_event_type import ReaderDownloadEventType
from .reader_link import ReaderLink
from .reader_link_source import ReaderLinkSource
from .reader_page import ReaderPage
from .reader_page_labels import ReaderPageLabels
from .reader_score import ReaderScore
from .reader_session import ReaderSession
from .reader_source import ReaderSource
from .reader_story import ReaderStory
from .reader_story_labels import ReaderStoryLabels
from .reader_submission import ReaderSubmission
from .reader_submission_state import ReaderSubmissionState
from .reader_submission_utm_type_0 import ReaderSubmissionUtmType0
from .reader_totals import ReaderTotals
from .removed import Removed
from .retention_report import RetentionReport
from .return_ import Return
from .session import Session
from .session_method import SessionMethod
from .share import Share
from .state import State
from .stream_analytics_events_event_type import StreamAnalyticsEventsEventType
from .submission import Submission
from .submission_state import SubmissionState
from .submission_utm_type_0 import SubmissionUtmType0
from .template import Template
from .tracking import Tracking
from .trial import Trial
from .upload_generic_link_thumbnail_body import UploadGenericLinkThumbnailBody
from .upload_lead_magnet_file_body import UploadLeadMagnetFileBody
from .upload_logo_body import UploadLogoBody
from .usage import Usage
from .user import User
from .user_role import UserRole
from .values import Values
from .values_device_item import ValuesDeviceItem
from .values_event_type_item import ValuesEventTypeItem
from .version import Version
from .webhook import Webhook
from .webhook_kinds_item import WebhookKindsItem
from .weekly_report import WeeklyReport

__all__ = (
    "AccessLink",
    "AccessLinkSource",
    "Account",
    "AccountBrandFont",
    "AccountLanguageType0",
    "AccountNotify",
    "AccountPlan",
    "AccountReadingNotices",
    "Allowance",
    "Answers",
    "APIKey",
    "APIKeyScopesItem",
    "Attempt",
    "Batch",
    "ChangedAccessLink",
    "ChangedAccount",
    "ChangedAccountBrandFont",
    "ChangedAccountLanguageType0",
    "ChangedAccountNotify",
    "ChangedAccountReadingNotices",
    "ChangedChannel",
    "ChangedChannelAboutItem",
    "ChangedGenericLink",
    "ChangedGenericLinkLanguageType0",
    "ChangedGenericLinkReadingNoticesType0",
    "ChangedLeadMagnet",
    "ChangedReport",
    "ChangedTemplate",
    "ChangedUser",
    "ChangedUserRole",
    "ChangedWebhook",
    "ChangedWebhookKindsItem",
    "Channel",
    "ChannelAboutItem",
    "ChannelKind",
    "Cohort",
    "CreateShareBody",
    "CurrentReader",
    "CursorPageDelivery",
    "CursorPageSubmission",
    "CursorPagination",
    "Delivery",
    "DeliveryBodyType0",
    "DeliveryKind",
    "DeliveryState",
    "Dimension",
    "DimensionMetricsItem",
    "DimensionName",
    "DimensionType",
    "EmailSummary",
    "Entry",
    "Event",
    "EventEventData",
    "EventEventType",
    "EventPage",
    "EventPagination",
    "ExportAnalyticsEventsEventType",
    "ExportAnalyticsEventsFormat",
    "ExportReadersFormat",
    "ExportReadersSort",
    "ExportReadersWithout",
    "ExportSubmissionsFormat",
    "Field",
    "FullWebhook",
    "FullWebhookKindsItem",
    "FunnelReport",
    "FunnelStep",
    "FunnelStepStep",
    "GenericLink",
    "GenericLinkLanguageType0",
    "GenericLinkReadingNoticesType0",
    "GetAccessLinkQrFormat",
    "GetGenericLinkQrFormat",
    "GetRetentionBy",
    "Invitation",
    "InvitationRole",
    "LeadMagnet",
    "LinkPreview",
    "ListAnalyticsEventsEventType",
    "ListGenericLinksSort",
    "ListReadersSort",
    "ListReadersWithout",
    "ListSubmissionsSort",
    "ListWebhookDeliveriesState",
    "Logo",
    "LogoContentType",
    "Metric",
    "MetricDimensionsItem",
    "MetricKind",
    "MetricName",
    "MetricUnitType0",
    "NewAccessLink",
    "NewAccessLinks",
    "NewAPIKey",
    "NewAPIKeyScopesItem",
    "NewChannel",
    "NewChannelAboutItem",
    "NewChannelKind",
    "NewGenericLink",
    "NewGenericLinkLanguageType0",
    "NewGenericLinkReadingNoticesType0",
    "NewInvitation",
    "NewInvitationRole",
    "NewKey",
    "NewKeyScopesItem",
    "NewLeadMagnet",
    "NewShare",
    "NewTemplate",
    "NewWebhook",
    "NewWebhookKindsItem",
    "NowReport",
    "NowReportLabels",
    "Object",
    "ObjectType",
    "Page",
    "PageAccessLink",
    "PageAPIKey",
    "PageChannel",
    "PageEntry",
    "PageGenericLink",
    "PageInvitation",
    "PageLeadMagnet",
    "PageReport",
    "PageSession",
    "PageShare",
    "PageTemplate",
    "PageUser",
    "PageVersion",
    "PageVisit",
    "PageWebhook",
    "Pagination",
    "PersonAccessLink",
    "PersonAccessLinkSource",
    "PersonAccessLinkUtmType0",
    "PersonAddress",
    "PersonAnswer",
    "PersonAnswerBody",
    "PersonChatMessage",
    "PersonDocument",
    "PersonDocumentEventsItem",
    "PersonDownload",
    "PersonErasure",
    "PersonForm",
    "PersonFormField",
    "PersonKey",
    "PersonMail",
    "PersonMailLead",
    "PersonNotice",
    "PersonNoticeSend",
    "PersonReading",
    "PersonReport",
    "PersonReportEventType",
    "PersonSession",
    "PersonSubmission",
    "PersonSubmissionUtmType0",
    "PersonVerification",
    "Preview",
    "Problem",
    "ProblemCode",
    "Question",
    "QuestionAnswer",
    "QuestionAnswerLabels",
    "QuestionAnswerRowsItem",
    "QuestionAnswerTotals",
    "QuestionCompare",
    "QuestionDimensionsItem",
    "QuestionInterval",
    "QuestionLimits",
    "QuestionMetricsItem",
    "QuestionOrderBy",
    "Questions",
    "QuestionSchema",
    "QuestionSchemaIntervalsItem",
    "QuestionsCompare",
    "QuestionsDimensionsItem",
    "QuestionsInterval",
    "QuestionsMetricsItem",
    "QuestionsOrderBy",
    "Reader",
    "ReaderDownload",
    "ReaderDownloadEventType",
    "ReaderLink",
    "ReaderLinkSource",
    "ReaderPage",
    "ReaderPageLabels",
    "ReaderScore",
    "ReaderSession",
    "ReaderSource",
    "ReaderStory",
    "ReaderStoryLabels",
    "ReaderSubmission",
    "ReaderSubmissionState",
    "ReaderSubmissionUtmType0",
    "ReaderTotals",
    "Removed",
    "RetentionReport",
    "Return",
    "Session",
    "SessionMethod",
    "Share",
    "State",
    "StreamAnalyticsEventsEventType",
    "Submission",
    "SubmissionState",
    "SubmissionUtmType0",
    "Template",
    "Tracking",
    "Trial",
    "UploadGenericLinkThumbnailBody",
    "UploadLeadMagnetFileBody",
    "UploadLogoBody",
    "Usage",
    "User",
    "UserRole",
    "Values",
    "ValuesDeviceItem",
    "ValuesEventTypeItem",
    "Version",
    "Webhook",
    "WebhookKindsItem",
    "WeeklyReport",
)
