"""The tool server's promises against code in the kernel that works against them, and the description of variables."""

from __future__ import annotations

from sandbox_app.trajectories import Variable
from tests.sandbox_app.conftest import Opener


async def variables(opened: Opener, code: str) -> dict[str, Variable]:
    session = await opened()
    result = await session.execute(code)
    assert result.outcome == "ok", result
    return {variable.name: variable for variable in result.variables}


async def test_what_a_cell_shadows_is_put_back_before_the_next(opened: Opener) -> None:
    session = await opened()
    await session.execute(
        "import sys, builtins, io\ntools = None\nToolError = None\nprint = None\nbuiltins.len = lambda x: 99\n"
        "builtins.print = lambda *a: None\nsys.stdout = io.StringIO()"
    )
    code = "print(len([1]), len(tools.notes_list()['notes']), issubclass(ToolError, Exception))"
    result = await session.execute(code)
    assert result.returned == "1 3 True\n"


async def test_tools_can_not_be_replaced_on_the_proxy(opened: Opener) -> None:
    session = await opened()
    result = await session.execute("tools.notes_list = lambda: 'fake'")
    assert result.error is not None
    assert "can't be replaced" in result.error.message


async def test_a_thread_that_calls_after_its_cell_is_refused_and_changes_nothing(opened: Opener) -> None:
    session = await opened()
    await session.execute(
        "import threading, time\nseen = []\ndef later():\n    time.sleep(0.3)\n"
        "    try: tools.notes_create(text='late')\n"
        "    except ToolError as error: seen.append(error.code)\nthreading.Thread(target=later).start()"
    )
    import asyncio

    await asyncio.sleep(0.6)
    result = await session.execute("print(seen, len(tools.notes_list()['notes']))")
    assert result.returned == "['FAILED_PRECONDITION'] 3\n"
    assert len(result.calls) == 1


async def test_a_child_process_can_not_call_tools(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "import os\npid = os.fork()\nif pid == 0:\n    try: tools.notes_create(text='child')\n"
        "    except ToolError as e: open('said', 'w').write(e.code)\n    os._exit(0)\nos.waitpid(pid, 0)\n"
        "print(open('said').read())"
    )
    assert result.returned == "FAILED_PRECONDITION\n"
    assert result.rows == ()


async def test_calls_from_several_threads_of_a_cell_are_all_answered(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool:\n"
        "    made = list(pool.map(lambda n: tools.notes_create(text=str(n))['id'], range(40)))\n"
        "print(sorted(made) == list(range(4, 44)))"
    )
    assert result.returned == "True\n"
    assert len(result.calls) == 40


async def test_the_database_verifier_and_reference_are_not_in_the_kernel(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "import sys, os, gc\nprint([m for m in sys.modules if 'sandbox_app' in m or 'tasks_app' in m or 'apsw' in m])\n"
        "print(sorted(os.listdir('/run/kernel')), sorted(os.listdir('/workspace')))\n"
        "print(any(isinstance(o, (str, bytes)) and 'note 7-2' in str(o) and len(o) < 100 for o in gc.get_objects()))"
    )
    assert result.returned.splitlines()[0] == "[]"
    assert "file0.txt" in result.returned
    assert result.returned.splitlines()[2] == "False"


async def test_rubbish_on_the_tool_channel_ends_the_calls_not_the_host(opened: Opener) -> None:
    session = await opened()
    result = await session.execute("import os\nos.write(3, b'\\xff' * 64)\nimport time; time.sleep(0.2)")
    assert result.outcome == "protocol_error"
    assert "frame" in result.detail


async def test_arguments_that_are_no_json_are_refused_in_the_kernel(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "for value in ({1, 2}, object(), float('nan')):\n    try: tools.notes_create(text=value)\n"
        "    except ToolError as e: print(e.code)\nimport numpy\n"
        "try: tools.notes_create(text=numpy.int64(3))\nexcept ToolError as e: print(e.message)"
    )
    assert result.returned.splitlines() == ["INVALID_ARGUMENT"] * 3 + ["text must not be empty"]


async def test_a_hostile_repr_is_never_called(opened: Opener) -> None:
    found = await variables(opened, (
        "class Meta(type):\n    @property\n    def __name__(cls): raise SystemExit\n"
        "    def __repr__(cls): raise SystemExit\n"
        "class Hostile(metaclass=Meta):\n"
        "    def __repr__(self): import os; os._exit(1)\n"
        "    __str__ = __len__ = __getattr__ = __hash__ = __eq__ = __repr__\n"
        "    __class__ = property(__repr__)\n    shape = property(__repr__)\n"
        "class DataFrame(list):\n    shape = property(lambda self: 1 / 0)\n    def __repr__(self): 1 / 0\n"
        "hostile, frame, nested = Hostile(), DataFrame([1]), [1, Hostile(), {'a': Hostile()}]"
    ))
    assert found["hostile"].repr == "<Hostile>"
    assert (found["frame"].type, found["frame"].repr) == ("DataFrame", "<DataFrame>")
    assert found["nested"].repr == "[1, <Hostile>, {'a': <Hostile>}]"


async def test_huge_values_are_described_in_bounds_and_at_once(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "text = 'x' * 50_000_000\nmany = list(range(2_000_000))\nbig = 1 << 1_000_000\nloop = []\nloop.append(loop)\n"
        "deep = [[[[[[1]]]]]]\nkeys = {str(i): i for i in range(100_000)}"
    )
    found = {variable.name: variable for variable in result.variables}
    assert all(len(variable.repr) <= 400 for variable in result.variables)
    assert (found["text"].size, found["many"].size) == ("50000000", "2000000")
    assert found["big"].repr == "<int of 1000001 bits>"
    assert found["deep"].repr == "[[[…]]]"
    assert found["many"].repr == "[0, 1, 2, 3, 4, 5, … 1999994 more]"
    quick = await session.execute("print(1)")
    assert quick.milliseconds < 500


async def test_frames_and_arrays_say_their_shape(opened: Opener) -> None:
    found = await variables(opened, "import pandas, numpy\nframe = pandas.DataFrame({'a': [1, 2]})\n"
        "array = numpy.zeros((3, 4))")
    assert (found["frame"].size, found["array"].size) == ("2 × 1", "3 × 4")
    assert "pandas" not in found


async def test_variables_say_how_they_changed(opened: Opener) -> None:
    session = await opened()
    await session.execute("a = 1; b = [1]; c = 'x'")
    result = await session.execute("a = 2; del b; d = None")
    assert {v.name: v.change for v in result.variables} == {"a": "changed", "b": "gone", "c": "same", "d": "new"}


async def test_tracebacks_are_short_and_without_our_own_frames(opened: Opener) -> None:
    session = await opened()
    result = await session.execute("rows = [1]\ntools.notes_create(text='')")
    assert result.error is not None
    assert result.error.traceback == (
        "Traceback (most recent call last):\n\n  Cell In[1], line 2\n    tools.notes_create(text='')\n\n"
        "ToolError: INVALID_ARGUMENT: text must not be empty\n"
    )


async def test_ansi_is_taken_out_of_what_is_returned_and_kept_in_full(opened: Opener) -> None:
    session = await opened()
    result = await session.execute("print('\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07end')")
    assert result.returned == "red end\n"
    assert "\x1b[31m" in result.stdout


async def test_long_output_goes_back_by_its_ends_and_is_kept_whole(opened: Opener) -> None:
    session = await opened(returned_characters=1_000)
    result = await session.execute("print('a' * 5_000 + 'z' * 5_000)")
    assert result.returned.startswith("a" * 700)
    assert result.returned.endswith("z" * 299 + "\n")
    assert "[… 9,001 characters left out …]" in result.returned
    assert len(result.stdout) == 10_001


async def test_closing_the_tool_channel_counts_as_evidence_against_the_policy(opened: Opener) -> None:
    session = await opened()
    await session.execute("import os; os.close(3)")
    result = await session.execute("import os\ntry: os.kill(os.getpid(), 9)\nexcept OSError: os._exit(1)")
    assert result.outcome == "kernel_dead"


async def test_forged_messages_of_the_kernel_are_passed_over(opened: Opener) -> None:
    session = await opened()
    result = await session.execute(
        "kernel = get_ipython().kernel\nsend = kernel.session.send\nparent = kernel.get_parent()\n"
        "send(kernel.iopub_socket, 'stream', content='[1]', parent=parent)\n"
        "send(kernel.iopub_socket, 'error', content={'traceback': 3, 'ename': None}, parent={'msg_id': 'other'})\n"
        "good, kernel.session.key = kernel.session.key, b'wrong'\n"
        "send(kernel.iopub_socket, 'status', content={'execution_state': 'idle'}, parent=parent)\n"
        "kernel.session.key = good\nprint('ok')"
    )
    assert (result.outcome, result.returned) == ("ok", "ok\n")
    assert (await session.execute("print('still')")).returned == "still\n"
