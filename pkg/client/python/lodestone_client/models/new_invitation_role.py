from typing import Literal

NewInvitationRole = Literal["analyst", "editor", "owner"]

NEW_INVITATION_ROLE_VALUES: set[NewInvitationRole] = {
    "analyst",
    "editor",
    "owner",
}


def check_new_invitation_role(value: str) -> NewInvitationRole:
    if value in NEW_INVITATION_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NEW_INVITATION_ROLE_VALUES!r}")
