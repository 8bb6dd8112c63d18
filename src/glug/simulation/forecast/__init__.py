"""What a scene will need, before it runs: memory from its shapes, time from a trial of it."""

from glug.simulation.forecast.outlook import Forecast, forecast
from glug.simulation.forecast.size import estimate
from glug.simulation.forecast.trial import RunTime, run_time, time_lines

__all__ = ["Forecast", "RunTime", "estimate", "forecast", "run_time", "time_lines"]
