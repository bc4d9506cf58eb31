"""Result of one check of `bitcipher doctor`."""

from dataclasses import dataclass
from enum import StrEnum

from bitcipher.redaction import redact


class Level(StrEnum):
    """Severity of a result. A problem makes jobs fail, or lets unauthorized users access the cluster."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class CheckResult:
    """Result of a check."""

    check: str
    """Name of the check."""
    level: Level
    """Severity of the finding."""
    message: str
    """Description of the finding, with advice unless the level is OK."""


def ok(check: str, message: str) -> CheckResult:
    """Return a result that needs no action."""
    return CheckResult(check, Level.OK, redact(message))


def warning(check: str, message: str) -> CheckResult:
    """Return a result that deserves attention."""
    return CheckResult(check, Level.WARNING, redact(message))


def problem(check: str, message: str) -> CheckResult:
    """Return a result that must be fixed before a job runs."""
    return CheckResult(check, Level.PROBLEM, redact(message))


def check_minimum(
    check: str, value: float, recommended: float, required: float, message: str, advice: str
) -> CheckResult:
    """Return the result for a quantity with a recommended and a required minimum.

    Args:
        check: name of the check.
        value: measured quantity.
        recommended: recommended minimum. A lower value gives a warning with the advice.
        required: required minimum. A lower value gives a problem with the advice.
        message: the measured quantity as text, without a period.
        advice: how to increase the quantity or how to need less of it, without a period.
    """
    if value < required:
        return problem(check, f"{message}: {advice}.")
    if value < recommended:
        return warning(check, f"{message}: {advice}.")
    return ok(check, f"{message}.")
