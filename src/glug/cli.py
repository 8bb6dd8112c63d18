"""The command line: parses, calls, prints. What a command needs is imported when it runs.

Exit codes: 0 done, 1 a run that failed, 2 bad usage or bad input, 130 stopped by Ctrl-C or SIGTERM.
"""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glug import __version__
from glug.errors import INTERRUPTED, GlugError, InputError, OutputError

if TYPE_CHECKING:
    from glug.scene import Scene
    from glug.simulation.run import RunSummary

_TRACEBACK = "--traceback"

app = typer.Typer(
    name="glug",
    help="Simulate liquids that pour, buckle, coil, splash and glug.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="A library scene or a .toml file.")]
RunArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")]
Resolution = Annotated[int | None, typer.Option(metavar="N", min=1, help="Cells along the longest side of the domain.")]
Frames = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Simulate up to frame N in all; frame 0 is the initial state."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set any key of the scene, such as time.cfl=2."),
]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the rows to FILE as JSON as well.")
]


@dataclass(frozen=True)
class RunOptions:
    """How a scene is run."""

    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write [out/<scene>].")
    ] = None
    frames: Frames = None
    resolution: Resolution = None
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="[all cores]")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in DIR.")] = False
    set_: Overrides = None

    def load(self, scene: str) -> "Scene":
        return _load(scene, self.frames, self.resolution, self.set_)


@dataclass(frozen=True)
class FrameOptions:
    """Which frames of a run become something else, and whether they replace what is there."""

    first: Annotated[int | None, typer.Option(metavar="N", min=0, help="The first frame [0].")] = None
    last: Annotated[int | None, typer.Option(metavar="N", min=0, help="The last frame [the last there is].")] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier export or comparison.")] = False


def _with_options(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Take the fields of the dataclass `kind` as options of a command, whose last parameter it is."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own, fields = (list(signature(f).parameters.values()) for f in (command, kind))

        @wraps(command)
        def call(**values: Any) -> Any:
            options = kind(**{field.name: values.pop(field.name) for field in fields})
            return command(**values, options=options)

        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*own[:-1], *fields)]
        call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        return call

    return decorate


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    traceback: Annotated[
        bool, typer.Option(_TRACEBACK, help="Show where an error arose (so does GLUG_DEBUG=1).")
    ] = False,
) -> None:
    if version:
        print(f"glug {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
@_with_options(RunOptions)
def run(scene: SceneArgument, options: RunOptions) -> int:
    """Simulate a scene into a folder of meshes and pictures."""
    loaded = options.load(scene)
    return _simulate(loaded, _folder(loaded, options), options)


def _folder(scene: "Scene", options: RunOptions) -> Path:
    """Where to write; an error if the run cannot begin there or does not fit into memory."""
    from glug.simulation.forecast import forecast
    from glug.simulation.run import earlier_run

    forecast(scene).require_memory()
    folder = options.output if options.output is not None else Path("out") / scene.name
    earlier_run(scene, folder, options.resume)
    return folder


def _simulate(scene: "Scene", folder: Path, options: RunOptions) -> int:
    from rich.console import Console

    from glug.simulation.run import run_to_folder
    from glug.simulation.warm_up.compiling import compile_for

    compile_for(scene)
    summary = run_to_folder(scene, folder, threads=options.threads, resume=options.resume, console=Console())
    print(_closing_line(summary), flush=True)
    return INTERRUPTED if summary.interrupted else 0


def _closing_line(summary: "RunSummary") -> str:
    if summary.already_complete:
        return f"{summary.folder}: already complete up to frame {summary.frames}, nothing to do"
    from glug.simulation.progress import clock

    troubles = f"; {summary.unconverged} solves did not converge" if summary.unconverged else ""
    if summary.left:
        ways = ", ".join(f"{way} {mass:.3g}" for way, mass in summary.left.items())
        troubles = f"; {sum(summary.left.values()):.3g} kg of liquid went away ({ways}){troubles}"
    if summary.interrupted:
        again = ["glug", *sys.argv[1:]]
        again += [] if "--resume" in again else ["--resume"]
        return (
            f"{summary.folder}: stopped at frame {summary.frame} of {summary.frames}{troubles}; "
            f"go on with: {shlex.join(again)}"
        )
    return (
        f"{summary.folder}: frame {summary.frames} written, {summary.steps} steps in {clock(summary.seconds)}{troubles}"
    )


@app.command()
@_with_options(RunOptions)
def view(
    what: Annotated[
        str, typer.Argument(metavar="DIR|SCENE", help="A run's folder, or a scene to run and watch meanwhile.")
    ],
    port: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=65535, help="[8080, or any if that is taken]")
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; others than this machine need a token.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    damaged: Annotated[bool, typer.Option("--damaged", help="Show a run although frames are missing or cut.")] = False,
    *,
    options: RunOptions,
) -> int:
    """Look at a run in a browser, afterwards or while it goes on."""
    from glug.view.browser.process import Viewer, require_frames

    if _is_run(what):
        for fault in require_frames(Path(what), damaged=damaged):
            print(f"glug: warning: {fault}", file=sys.stderr)
        viewer = Viewer(Path(what), host, port)
        print(f"{what}: {viewer.url} (Ctrl-C ends it)", flush=True)
        viewer.serve(browser)
        return 0
    loaded = options.load(what)
    folder = _folder(loaded, options)
    viewer = Viewer(folder, host, port)
    print(f"{folder}: {viewer.url}", flush=True)
    with viewer.beside(browser) as wait:
        code = _simulate(loaded, folder, options)
        if code == 0:
            print(f"{folder}: {viewer.url} (Ctrl-C ends it)", flush=True)
            wait()
    return code


def _is_run(what: str) -> bool:
    """Whether `what` is meant as a folder: a library scene may have the name of one that holds no run."""
    from glug.scene import scenes as library

    path = Path(what)
    return path.is_dir() and ((path / "manifest.json").exists() or what not in dict(library()))


@app.command()
def scenes() -> None:
    """List the scenes of the library."""
    from glug.scene import scenes as library

    listed = library()
    width = max(len(name) for name, _ in listed)
    for name, summary in listed:
        print(f"{name:<{width}}  {summary}")


@app.command()
def new(file: Annotated[Path, typer.Argument(metavar="FILE", help="The .toml file to write.")]) -> None:
    """Write a commented starter scene."""
    from glug.scene import starter_scene

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "x", encoding="utf-8") as target:
            target.write(starter_scene())
    except FileExistsError:
        raise InputError(f"{file}: exists already, and is not overwritten") from None
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror}") from error
    print(f"{file}: written; try: glug run {shlex.quote(str(file))}")


@app.command()
def check(scene: SceneArgument, frames: Frames = None, resolution: Resolution = None, set_: Overrides = None) -> None:
    """Validate a scene, estimate its memory, and its time by a short trial on a coarse grid; writes nothing."""
    loaded = _load(scene, frames, resolution, set_)
    from glug.simulation.forecast import forecast, time_lines

    outlook = forecast(loaded)
    print(outlook.text())
    for warning in outlook.warnings:
        print(f"glug: warning: {warning}", file=sys.stderr)
    outlook.require_memory()
    print(time_lines(loaded))


@app.command("warm-up")
def warm_up(
    scene: Annotated[str | None, typer.Argument(metavar="[SCENE]", help="A library scene or a .toml file.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All scenes of the library.")] = False,
) -> None:
    """Compile the kernels that a scene needs and that are not there yet, before it runs."""
    if (scene is None) != every:
        raise InputError("give a scene, or --all")
    from glug.scene import load
    from glug.simulation.warm_up.compiling import compile_for, compile_library, rehearse

    if scene is None:
        count = compile_library()
    else:
        loaded = load(scene)
        count = compile_for(loaded) + rehearse(loaded)
    print(f"{scene or 'all scenes'}: {count or 'no'} kernels compiled")


@app.command()
@_with_options(FrameOptions)
def export(
    folder: RunArgument,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="usd, abc, vtk, vdb, ply or obj.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PATH", help="Where to write [DIR/export/...].")
    ] = None,
    *,
    options: FrameOptions,
) -> None:
    """Write a run for Houdini, Blender, Maya, ParaView and others."""
    from glug.output.export import export_run
    from glug.progress import counting

    with counting(f"exporting to {to}") as on_frame:
        print(export_run(folder, to, output, **vars(options), on_frame=on_frame).text())


@app.command()
@_with_options(FrameOptions)
def compare(
    folder: RunArgument,
    other: Annotated[Path, typer.Argument(metavar="DIR2", help="The folder of another run.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write [DIR-vs-DIR2].")
    ] = None,
    *,
    options: FrameOptions,
) -> None:
    """Show two runs side by side, and plot how far apart they are."""
    from glug.progress import counting
    from glug.view.compare import compare_runs

    with counting("comparing") as on_frame:
        print(compare_runs(folder, other, output, **vars(options), on_frame=on_frame).text())


@app.command()
def validate(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A study; none lists them.")] = None,
    json: JsonFile = None,
    largest: Annotated[
        int | None, typer.Option("--max", metavar="N", min=1, help="Leave out grids finer than N cells.")
    ] = None,
    case: Annotated[str | None, typer.Option(metavar="NAME", help="One case of a study that has some, or all.")] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run folder to measure, where a study needs one.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All studies that need no run folder.")] = False,
    plots: Annotated[Path, typer.Option(metavar="DIR", help="Where the plots go, one picture a study.")] = Path(
        "out/validate"
    ),
    pages: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a page of documentation for every study as well.")
    ] = None,
) -> None:
    """Reproduce published and analytic results, ours beside theirs."""
    from glug.studies.registry import STUDIES, StudyOptions, run_study

    if every:
        names = [key for key, entry in STUDIES.items() if run is not None or not entry.needs_run]
    elif name is None:
        _list(STUDIES, "glug validate NAME")
        return
    else:
        names = [name]
    options = StudyOptions(largest_grid=largest, case=case, run=run, pictures=pages or plots)
    rows = []
    for each in names:
        try:
            found = run_study(each, options)
        except InputError as error:
            if not every:
                raise
            print(f"{each} left out: {error}\n")
            continue
        _report(found, None, show=True)
        _illustrate(each, found, plots, pages)
        rows += found
        _report(rows, json, show=False)  # what is done is kept, whatever follows
    if pages is not None:
        from glug.studies.pages import write_index

        write_index(pages)


def _illustrate(name: str, rows: Sequence[Any], plots: Path, pages: Path | None) -> None:
    from glug.studies.pages import write_page, write_plot

    if write_plot(rows, plots / f"{name}.png"):
        print(f"{plots / name}.png: written\n")
    if pages is not None:
        write_page(name, rows, pages)


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A bench; none lists them.")] = None,
    json: JsonFile = None,
    threads: Annotated[
        list[int] | None, typer.Option(metavar="T", min=1, help="May be given more than once [1 and 2].")
    ] = None,
    resolution: Annotated[
        int | None, typer.Option("--resolution", "--n", metavar="N", min=1, help="Cells along the longest side.")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", min=1, help="Steps to measure.")] = None,
    solver: Annotated[str | None, typer.Option(metavar="NAME", help="One solver of a solve bench [all].")] = None,
    case: Annotated[str | None, typer.Option(metavar="NAME", help="One case of a solve bench, or all.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="A picture of how a solve bench converges.")] = None,
) -> None:
    """Measure speed and memory, each case in a process of its own."""
    from glug.studies.registry import BENCHES, BenchOptions, run_bench

    if name is None:
        return _list(BENCHES, "glug bench NAME")
    options = BenchOptions(threads or (1, 2), resolution, steps, solver, case, plot)
    return _report(run_bench(name, options), json, show=False)


@app.command()
def render(
    folder: RunArgument,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write [DIR/render].")
    ] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Width and height in pixels.")] = "640x480",
    samples: Annotated[int, typer.Option(metavar="N", help="Samples per pixel, of Mitsuba.")] = 64,
    look: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show the liquid as honey, water, milk, chocolate, ...")
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="FRAMES", help="Some frames: 60, 10-40 or every other one, 0-40:2.")
    ] = None,
    shutter: Annotated[
        float, typer.Option(metavar="S", help="Motion blur: part of a frame the shutter is open.")
    ] = 0.0,
    reframe: Annotated[bool, typer.Option("--reframe", help="Choose a camera even if the scene has one.")] = False,
    renderer: Annotated[str, typer.Option(metavar="NAME", help="auto, mitsuba or plain.")] = "auto",
) -> None:
    """Render a run: a picture per frame and a film. The same command goes on where it stopped."""
    from glug.progress import counting
    from glug.view.arguments import parse_frames, parse_size
    from glug.view.sequence import RenderOptions, render_run

    options = RenderOptions(renderer, parse_size(size), samples, look, parse_frames(only), shutter, reframe)

    def say(text: str) -> None:
        print(f"glug: note: {text}", file=sys.stderr)

    with counting("rendering") as on_picture:
        done = render_run(folder, options, output, on_picture, say)
    kept = f", {done.kept} were there" if done.kept else ""
    film = f", {done.film.name}" if done.film is not None else ""
    made = f"{done.rendered} picture{'' if done.rendered == 1 else 's'}"
    print(f"{done.folder}: {made} by the {done.engine} renderer{kept}{film}")


def _list(entries: Any, usage: str) -> None:
    width = max(len(name) for name in entries)
    for name, entry in entries.items():
        print(f"{name:<{width}}  {entry.summary}{' (--run DIR)' if entry.needs_run else ''}")
    print(f"\nrun one with: {usage}")


def _report(rows: Sequence[Any], file: Path | None, show: bool) -> None:
    from glug.studies.rows import table, write_json

    if show:
        print(table(rows))
    if file is not None:
        write_json(rows, file)


def _load(scene: str, frames: int | None, resolution: int | None, settings: list[str] | None) -> "Scene":
    """The scene with the command line's changes; the options of their own name go last."""
    from glug.scene import load, parse_override

    overrides: dict[str, Any] = dict(parse_override(text) for text in settings or [])
    if frames is not None:
        overrides["time.frames"] = frames
    if resolution is not None:
        overrides["domain.resolution"] = resolution
    return load(scene, overrides)


def execute(arguments: Sequence[str]) -> int:
    """Run a command line (without the program's name) and return its exit code; errors are one line."""
    wants_traceback = _TRACEBACK in arguments or os.environ.get("GLUG_DEBUG", "") not in ("", "0")
    arguments = [word for word in arguments if word != _TRACEBACK]  # valid in any place
    try:
        result = typer.main.get_command(app).main(list(arguments), prog_name="glug", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except KeyboardInterrupt:
        print("\nglug: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; keep Python from complaining when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if wants_traceback:
            raise
        return _complain(error)


def _complain(error: Exception) -> int:
    """Say what went wrong in one line; the exit code."""
    if isinstance(error, GlugError):
        text, code = str(error), error.exit_code
    elif hasattr(error, "format_message"):  # how the parser's own errors put themselves
        text, code = error.format_message(), 2
    elif isinstance(error, MemoryError):
        text, code = "out of memory; a lower --resolution needs less", 1
    else:
        text, code = f"unexpected {type(error).__name__}: {error} (glug {_TRACEBACK} ... shows where)", 1
    print("glug: error:", " ".join(text.split()), file=sys.stderr)
    return code
