"""How every subprocess of ours begins and ends: its folder, the stop flag, and a result that says how it went."""

from __future__ import annotations

import argparse
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from training_app.errors import TrainingError
from training_app.folders import RunFolder
from training_app.processes import StopFlag

Work = Callable[[Path, RunFolder, StopFlag], dict[str, Any]]


def run(description: str | None, work: Work) -> int:
    """Parse --config and --out, do the work, write result.json. Returns the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder = RunFolder(options.out)
    folder.create()
    flag = StopFlag().install()
    warnings.simplefilter("ignore", FutureWarning)
    try:
        summary = work(options.config, folder, flag)
    except TrainingError as error:
        folder.finish("refused", error=str(error))
        return 2
    except Exception as error:  # noqa: BLE001 - the boundary of the subprocess: the result must say how it ended
        traceback.print_exc()
        folder.finish("failed", error=f"{type(error).__name__}: {error}. See log.txt of the run.")
        return 1
    folder.finish("stopped" if flag.asked else "finished", **summary)
    return 0
