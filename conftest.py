# SPDX-License-Identifier: MIT OR Apache-2.0
"""Settings of all Python tests: no example fails because the machine was busy, and a run may have a limit of time."""

from __future__ import annotations

import time

import pytest
from hypothesis import settings

settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")

TOOK = "sunseal/took"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--within`."""
    parser.addoption(
        "--within",
        type=float,
        metavar="SECONDS",
        help="begin no test after so many seconds; those that took least when they last ran come first",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep how long tests take, and hold to a limit."""
    if getattr(config, "cache", None) is None:
        return
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))
    if config.getoption("--within") is not None:
        config.pluginmanager.register(Limit(config))


class Durations:
    """Seconds that each test took when it last ran, in pytest's cache."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin with no time taken."""
        self.config = config
        self.took: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up a test's parts; one that was skipped says nothing of its time."""
        if report.when == "call" or report.nodeid in self.took:
            self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write them down beside those of tests that did not run."""
        cache = self.config.cache
        if cache is not None and self.took:
            cache.set(TOOK, {**cache.get(TOOK, {}), **self.took})


class Limit:
    """`--within`: the quickest first, and none begins when the time is over."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin to count the time now."""
        self.seconds = config.getoption("--within")
        self.until = time.monotonic() + self.seconds
        self.took: dict[str, float] = config.cache.get(TOOK, {}) if config.cache else {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sort by time; tests that have never run come first."""
        items.sort(key=lambda item: self.took.get(item.nodeid, 0.0))

    def pytest_runtest_setup(self) -> None:
        """Leave out what is too late."""
        if time.monotonic() > self.until:
            pytest.skip(f"--within {self.seconds:g}: the time is over")
