"""What a check has found."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is: nothing to do, worth a thought, or a job will fail or is open to others."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class CheckResult:
    """What was checked, how it is, and what to do about it in a sentence."""

    check: str
    level: Level
    says: str


def ok(check: str, says: str) -> CheckResult:
    """Nothing to do."""
    return CheckResult(check, Level.OK, says)


def warning(check: str, says: str) -> CheckResult:
    """Worth a thought."""
    return CheckResult(check, Level.WARNING, says)


def problem(check: str, says: str) -> CheckResult:
    """To be mended before a job is run."""
    return CheckResult(check, Level.PROBLEM, says)


def judge(check: str, value: float, warn_below: float, bad_below: float, says: str, advice: str) -> CheckResult:
    """A finding on a quantity of which more is better; the advice is added where there is too little."""
    if value < bad_below:
        return problem(check, f"{says}: {advice}.")
    if value < warn_below:
        return warning(check, f"{says}: {advice}.")
    return ok(check, f"{says}.")
