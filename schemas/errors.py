"""What can be wrong with a record as it was read: a small tree, one reason each."""


class BadRecord(Exception):
    """A record that no reader of this version can use; it belongs into the dead letters.

    `reason` is a short, stable word for metrics and headers; the message names the place in the record.
    """

    reason = "bad_record"


class HeaderMissing(BadRecord):
    """A header that every record of the type must have is absent."""

    reason = "header_missing"


class HeaderInvalid(BadRecord):
    """A header is there but its value is not what it must be."""

    reason = "header_invalid"


class UnknownRecordType(BadRecord):
    """The header `type` names no record type that may stand in this topic."""

    reason = "unknown_type"


class NewerVersion(BadRecord):
    """The record was written by newer code than this reader's; the message says to deploy the readers first."""

    reason = "newer_version"


class InvalidValue(BadRecord):
    """The value is not JSON of the type's schema; the message names the fields."""

    reason = "invalid_value"


class WrongPartition(BadRecord):
    """The record does not lie in the partition of its key, so its channel's order is not kept."""

    reason = "wrong_partition"
