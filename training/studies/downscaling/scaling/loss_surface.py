"""Loss as a function of parameters and tokens, L(N, D) = E + A / N^α + B / D^β (Hoffmann et al. 2022, section 3.3)."""

from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np
from scipy.optimize import least_squares
from scipy.special import logsumexp

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers, check_lengths, check_positive

# Minimum number of points: one more than the parameters, which are five.
MIN_POINTS = 6
# Transition of the Huber loss from squares to absolute values of errors of log L, as in Hoffmann et al.
_HUBER_DELTA = 1e-3
# First guesses: shares of the smallest loss that are irreducible, shares of the rest that are due to N, and exponents.
_IRREDUCIBLE, _OF_PARAMETERS, _EXPONENTS = (0.3, 0.6, 0.9), (0.3, 0.7), (0.2, 0.5)


@dataclass(frozen=True)
class LossSurface:
    """Law L(N, D) = irreducible + A / N ** alpha + B / D ** beta."""

    irreducible: float
    """Irreducible loss E."""
    log_a: float
    """Natural logarithm of A."""
    alpha: float
    """Exponent of the parameters."""
    log_b: float
    """Natural logarithm of B."""
    beta: float
    """Exponent of the tokens."""

    def at(self, parameters: Numbers, tokens: Numbers) -> np.ndarray:
        """Return the loss for each number of parameters and tokens, (P,) float64."""
        n, d = np.log(np.asarray(parameters, np.float64)), np.log(np.asarray(tokens, np.float64))
        return self.irreducible + np.exp(self.log_a - self.alpha * n) + np.exp(self.log_b - self.beta * d)


def fit_loss_surface(parameters: Numbers, tokens: Numbers, losses: Numbers) -> LossSurface:
    """Return the law with the least Huber loss of the errors of log L, from several first guesses.

    Use the last evaluation of each run: before its end, the learning rate has not decayed, and the loss is higher than
    that of a run that ends there.

    Args:
        parameters: (P,) number of parameters N of each run, with at least two different values.
        tokens: (P,) number of training tokens D, with at least two different values.
        losses: (P,) losses.

    Raises:
        BitcipherError: if there are fewer than six points, all N or all D are equal, or a number is not finite or not
            above 0.
    """
    n, d = check_positive("parameters", parameters), check_positive("tokens", tokens)
    y = check_positive("losses", losses)
    check_lengths(("parameters", n), ("losses", y), min_points=MIN_POINTS)
    check_lengths(("tokens", d), ("losses", y), min_points=MIN_POINTS)
    for name, values in (("parameters", n), ("tokens", d)):
        if np.ptp(values) == 0:
            raise BitcipherError(f"All {len(values)} {name} are {values[0]}; the law needs at least two values.")
    # Logarithms from their means make the exponents and the sizes of the terms nearly independent.
    log_n, log_d = np.log(n), np.log(d)
    moved_n, moved_d = log_n - log_n.mean(), log_d - log_d.mean()

    def terms(guess: np.ndarray) -> np.ndarray:
        """Return the logarithms of the three terms, (3, P)."""
        return np.stack([np.full(len(y), guess[0]), guess[1] - guess[2] * moved_n, guess[3] - guess[4] * moved_d])

    def errors(guess: np.ndarray) -> np.ndarray:
        return logsumexp(terms(guess), axis=0) - np.log(y)

    def jacobian(guess: np.ndarray) -> np.ndarray:
        logs = terms(guess)
        irreducible, of_n, of_d = np.exp(logs - logsumexp(logs, axis=0))
        return np.column_stack([irreducible, of_n, -of_n * moved_n, of_d, -of_d * moved_d])

    fits = [
        least_squares(errors, first, cast("Any", jacobian), loss="huber", f_scale=_HUBER_DELTA, x_scale="jac")
        for first in _first_guesses(y)
    ]
    log_e, a, alpha, b, beta = min(fits, key=lambda fit: fit.cost).x
    return LossSurface(
        float(np.exp(log_e)),
        float(a + alpha * log_n.mean()),
        float(alpha),
        float(b + beta * log_d.mean()),
        float(beta),
    )


def _first_guesses(losses: np.ndarray) -> list[np.ndarray]:
    guesses = []
    for share, of_parameters, alpha, beta in product(_IRREDUCIBLE, _OF_PARAMETERS, _EXPONENTS, _EXPONENTS):
        irreducible = share * losses.min()
        rest = np.median(losses) - irreducible
        guess = [np.log(irreducible), np.log(rest * of_parameters), alpha, np.log(rest * (1 - of_parameters)), beta]
        guesses.append(np.array(guess))
    return guesses
