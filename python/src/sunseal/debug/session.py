# SPDX-License-Identifier: MIT OR Apache-2.0
"""One client's session: requests of the Debug Adapter Protocol and what answers them."""

from __future__ import annotations

import base64
import codecs
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sunseal._engine import EngineError
from sunseal.debug import launching, reading
from sunseal.debug.frames import Frame
from sunseal.debug.running import Exited, Plan, Runner, Stopped
from sunseal.debug.showing import Shown
from sunseal.debug.wire import Message, Wire
from sunseal.errors import SunsealError

Body = dict[str, Any]
THREAD = 1
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsInstructionBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsSetVariable": True,
    "supportsSteppingGranularity": True,
    "supportsDisassembleRequest": True,
    "supportsReadMemoryRequest": True,
    "supportsWriteMemoryRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "supportTerminateDebuggee": True,
    "supportsValueFormattingOptions": False,
    "exceptionBreakpointFilters": [
        {
            "filter": "power",
            "label": "Loss of power",
            "description": "Stop where the supply goes away; else the program goes on when it is back",
            "default": True,
        }
    ],
}
NEEDS_STILL = "stackTrace scopes variables evaluate setVariable continue next stepIn stepOut exceptionInfo".split()
"""Requests that a program must stand still for."""


class Session:
    """State of a session from `initialize` to `disconnect`."""

    def __init__(self, wire: Wire) -> None:
        """Serve the client at the other end of a wire."""
        self._wire = wire
        self._runner: Runner | None = None
        self._told: dict[str, Any] = {}
        self.runs = False
        """True while the program runs, in slices that `slice` carries out."""
        self.over = False
        """True once the client has left."""
        self._ended = False
        self._numbers = itertools.count(1)
        self._places: dict[str, dict[int, set[int]]] = {}
        """Addresses of breakpoints with their numbers, by the request that set them."""
        self._stop: Stopped | None = None
        self._frames: list[Frame] = []
        self._rows: list[Callable[[], list[Shown]]] = []
        """Makers of the rows below a variable or a scope; its reference is its place, from 1."""
        self._texts: dict[str, Any] = {}
        self._lines_from = self._columns_from = 1

    # --- Messages --------------------------------------------------------------------------------

    def handle(self, message: Message) -> None:
        """Answer a request of the client."""
        command = message.get("command")
        seq = message.get("seq")
        if message.get("type") != "request" or not isinstance(command, str) or not isinstance(seq, int):
            return
        arguments = message.get("arguments") or {}
        answer = {"request_seq": seq, "command": command}
        try:
            if not isinstance(arguments, Mapping):
                raise SunsealError(f"the arguments of `{command}` are no object of JSON")
            body, then = self._answer(command, arguments)
        except (SunsealError, EngineError) as e:
            hint = getattr(e, "hint", None)
            sentence = f"{e}; {hint}" if hint else str(e)
            error = {"id": 1, "format": sentence.replace("{", "(").replace("}", ")"), "showUser": True}
            self._wire.send("response", **answer, success=False, message=sentence, body={"error": error})
            return
        self._wire.send("response", **answer, success=True, **({"body": body} if body is not None else {}))
        if then is not None:
            then()

    def _answer(self, command: str, arguments: Mapping[str, Any]) -> tuple[Body | None, Callable[[], object] | None]:
        handler = REQUESTS.get(command)
        if handler is None:
            raise SunsealError(f"the request `{command}` is not answered here")
        early = command in ("initialize", "launch", "disconnect", "attach", "cancel", "terminate")
        if self._runner is None and not early:
            raise SunsealError(f"`{command}` needs a program: send `launch` with `program` and `board` first")
        if self.runs and command in NEEDS_STILL:
            raise SunsealError(f"the program runs, and `{command}` needs it to stand still: pause it")
        try:
            made = handler(self, arguments)
        except (KeyError, TypeError, AttributeError) as e:
            raise SunsealError(f"the arguments of `{command}` are not as the protocol has them: {e!r}") from e
        return made if isinstance(made, tuple) else (made, None)

    def event(self, event: str, **body: Any) -> None:
        """Tell the client of something."""
        self._wire.send("event", event=event, body=body)

    def say(self, text: str, category: str = "console") -> None:
        """Write a line into the client's console."""
        self.event("output", category=category, output=text + "\n")

    def _wrote(self, serial: str, data: bytes) -> None:
        decoder = self._texts.setdefault(serial, codecs.getincrementaldecoder("utf-8")("replace"))
        if text := decoder.decode(data):
            self.event("output", category="stdout", output=text)

    @property
    def _machine(self) -> Any:
        return self._run.bench.machine

    @property
    def _run(self) -> Runner:
        assert self._runner is not None
        return self._runner

    # --- Beginning and end -----------------------------------------------------------------------

    def initialize(self, arguments: Mapping[str, Any]) -> Body:
        """Tell what this adapter can do."""
        self._lines_from = 1 if arguments.get("linesStartAt1", True) else 0
        self._columns_from = 1 if arguments.get("columnsStartAt1", True) else 0
        return CAPABILITIES

    def launch(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """Put the program on its board."""
        if self._runner is not None:
            raise SunsealError("a program is launched already; one session has one")
        self._runner, self._told, warnings = launching.launch(arguments)
        self._runner.say = lambda text: self.say(text, "important")
        self._runner.bench.on_output = self._wrote

        def then() -> None:
            for warning in warnings:
                self.say(warning, "important")
            self.event("process", name=str(self._told["program"]), isLocalProcess=False, startMethod="launch")
            self.event("initialized")

        return None, then

    def attach(self, arguments: Mapping[str, Any]) -> Body:
        """Refuse: a simulated board begins with its program."""
        raise SunsealError("there is nothing to attach to: write `launch` with `program` and `board`")

    def configuration_done(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """Let the program begin, to its entry if that is asked for."""
        entry = self._told.get("stopOnEntry", False)
        if entry == "reset" or (entry and "main" not in self._run.program.entries):
            return None, lambda: self._stand(Stopped("entry", "Stopped at the reset"))
        return None, lambda: self._go(self._run.to("main") if entry else None)

    def terminate(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """End the program, not the session."""
        return None, self._finish

    def disconnect(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """End the session and the program."""

        def then() -> None:
            self._finish()
            self.over = True

        return None, then

    def _finish(self) -> None:
        self.runs = False
        if not self._ended and self._runner is not None:
            self._ended = True
            self.event("terminated")

    def cancel(self, arguments: Mapping[str, Any]) -> None:
        """Take note: nothing here takes long enough to be cancelled."""

    # --- Breakpoints -----------------------------------------------------------------------------

    def _set(self, key: str, found: list[tuple[Body, tuple[int, ...]]]) -> Body:
        """Put the breakpoints of one request in the place of those that it set before."""
        places: dict[int, set[int]] = {}
        for body, addresses in found:
            body["id"] = next(self._numbers)
            body["verified"] = bool(addresses)
            for address in addresses:
                places.setdefault(address, set()).add(body["id"])
        self._places[key] = places
        every: dict[int, set[int]] = {}
        for each in self._places.values():
            for address, numbers in each.items():
                every.setdefault(address, set()).update(numbers)
        self._run.breakpoints = {} if self._told.get("noDebug") else every
        self._run.placed()
        return {"breakpoints": [body for body, _ in found]}

    def set_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        """Set the breakpoints of a source file."""
        source = arguments["source"]
        path = source.get("path") or source.get("name") or ""
        wanted = [each["line"] for each in arguments.get("breakpoints") or ()]
        program = self._run.program
        files = program.named(path)
        found: list[tuple[Body, tuple[int, ...]]] = []
        for line in wanted:
            at = program.line(files, line + 1 - self._lines_from) if files else None
            if at is None:
                of = f"{Path(path).name} is no source of this program" if not files else "no code from this line on"
                found.append(({"line": line, "message": program.missing or of}, ()))
                continue
            number = at.number - 1 + self._lines_from
            body: Body = {"line": number, "source": self._source(at.file)}
            if number != line:
                body["message"] = f"line {line} has no code: moved to line {number}"
            body["instructionReference"] = hex(at.addresses[0])
            found.append((body, at.addresses))
        return self._set(f"source {path}", found)

    def set_function_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        """Set breakpoints at functions, by name or address."""
        found: list[tuple[Body, tuple[int, ...]]] = []
        for each in arguments["breakpoints"]:
            name = each["name"]
            at = (int(name, 16),) if name.startswith("0x") else tuple(self._run.program.entries_of(name))
            body: Body = {} if at else {"message": f"the program has no function `{name}`"}
            if at and (row := self._run.program.row(at[0])) is not None:
                body |= {"line": row.line - 1 + self._lines_from, "source": self._source(row.file)}
            found.append((body, at))
        return self._set("functions", found)

    def set_instruction_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        """Set breakpoints at addresses."""
        found: list[tuple[Body, tuple[int, ...]]] = []
        for each in arguments["breakpoints"]:
            address = int(each["instructionReference"], 0) + each.get("offset", 0)
            found.append(({"instructionReference": hex(address)}, (address,)))
        return self._set("instructions", found)

    def set_exception_breakpoints(self, arguments: Mapping[str, Any]) -> Body:
        """Choose whether a loss of power stops the program."""
        filters = arguments.get("filters") or []
        self._run.stops_at_loss = "power" in filters
        return {"breakpoints": [{"verified": each == "power"} for each in filters]}

    # --- Running ---------------------------------------------------------------------------------

    def _go(self, plan: Plan | None) -> None:
        self._frames, self._rows, self._stop = [], [], None
        if self._ended:
            return
        self._run.go(plan)
        self.runs = True

    def _stand(self, why: Stopped) -> None:
        self.runs, self._stop = False, why
        self._frames, self._rows = [], []
        body: Body = {
            "reason": why.reason,
            "description": why.description,
            "threadId": THREAD,
            "allThreadsStopped": True,
        }
        if why.text:
            body["text"] = why.text
            self.say(why.text, "important")
        if why.hits:
            body["hitBreakpointIds"] = list(why.hits)
        self.event("stopped", **body)

    def slice(self) -> None:
        """Let the program run for a while."""
        try:
            ended = self._run.slice()
        except SunsealError as e:
            ended = self._run.stopped(Stopped("exception", "Error", str(e)))
        if isinstance(ended, Exited):
            self.runs = False
            self.event("exited", exitCode=ended.status)
            self._finish()
        elif ended is not None:
            self._stand(ended)

    def go_on(self, arguments: Mapping[str, Any]) -> tuple[Body, Callable[[], object]]:
        """Let the program go on."""
        return {"allThreadsContinued": True}, lambda: self._go(None)

    def _step(self, arguments: Mapping[str, Any], over: bool) -> tuple[None, Callable[[], object]]:
        by_instruction = arguments.get("granularity") == "instruction" or bool(self._run.program.missing)
        if self._run.off:
            return None, lambda: self._go(None)
        plan = self._run.instruction(over) if by_instruction else self._run.over(into=not over)
        return None, lambda: self._go(plan)

    def next(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """Step to the next statement or instruction."""
        return self._step(arguments, over=True)

    def step_in(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """Step, into a function that is called too."""
        return self._step(arguments, over=False)

    def step_out(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """Run to the function's return."""
        plan = self._run.out()
        return None, lambda: self._go(plan)

    def pause(self, arguments: Mapping[str, Any]) -> tuple[None, Callable[[], object]]:
        """Have the program stand still."""

        def then() -> None:
            if self.runs:
                self._stand(self._run.stopped(Stopped("pause", "Paused")))

        return None, then

    def threads(self, arguments: Mapping[str, Any]) -> Body:
        """Name the one thread: the board."""
        return {"threads": [{"id": THREAD, "name": self._run.bench.board}]}

    def exception_info(self, arguments: Mapping[str, Any]) -> Body:
        """Tell what the program stands still for."""
        why = self._stop or Stopped("unknown", "It runs")
        return {"exceptionId": why.reason, "description": why.text or why.description, "breakMode": "always"}

    # --- Frames and values -----------------------------------------------------------------------

    def _source(self, file: str) -> Body:
        path = self._run.program.located(file)
        return {"name": Path(file).name, **({"path": path} if path else {})}

    def _of(self, arguments: Mapping[str, Any]) -> Frame | None:
        if self._run.off:
            return None
        if not self._frames:
            self._frames = self._run.stack.frames()
        number: int | None = arguments.get("frameId")
        if number is None:
            return self._frames[0] if self._frames else None
        if not 1 <= number <= len(self._frames):
            raise SunsealError(f"there is no frame {number}: frames are those of the last `stackTrace`")
        return self._frames[number - 1]

    def stack_trace(self, arguments: Mapping[str, Any]) -> Body:
        """List the frames, the innermost first."""
        if self._run.off:
            away: Body = {"id": 1, "name": "no supply", "line": 0, "column": 0, "presentationHint": "label"}
            return {"stackFrames": [away], "totalFrames": 1}
        self._of({})
        rows = []
        for i, frame in enumerate(self._frames, 1):
            name = frame.function.name if frame.function is not None else self._machine.engine.describe(frame.lookup)
            body: Body = {"id": i, "name": name, "line": 0, "column": 0, "instructionPointerReference": hex(frame.pc)}
            if (row := self._run.program.near(frame.lookup)) is not None:
                body |= {"line": row.line - 1 + self._lines_from, "column": self._columns_from}
                body["source"] = self._source(row.file)
            else:
                body["presentationHint"] = "subtle"
            rows.append(body)
        first, most = arguments.get("startFrame") or 0, arguments.get("levels") or len(rows)
        return {"stackFrames": rows[first : first + most], "totalFrames": len(rows)}

    def scopes(self, arguments: Mapping[str, Any]) -> Body:
        """Name what can be looked at in a frame."""
        frame = self._of(arguments)
        places: list[tuple[str, str, bool, Callable[[], list[Shown]]]] = []
        look = reading.Reading(self._run)
        if frame is not None:
            places.append(("Locals", "locals", False, lambda: look.locals(frame)))
        places.append(("Globals", "globals", True, look.globals))
        places.append(("Registers", "registers", False, look.registers))
        places.append(("Peripherals", "peripherals", True, look.peripherals))
        places.append(("Energy", "energy", False, look.energy))
        return {
            "scopes": [
                {"name": name, "presentationHint": hint, "expensive": dear, "variablesReference": self._kept(made)}
                for name, hint, dear, made in places
            ]
        }

    def _kept(self, made: Callable[[], list[Shown]] | None) -> int:
        if made is None:
            return 0
        self._rows.append(made)
        return len(self._rows)

    def _below(self, reference: int) -> list[Shown]:
        if not 1 <= reference <= len(self._rows):
            raise SunsealError(f"there is no variable of reference {reference}: the program has run since")
        return self._rows[reference - 1]()

    def _told_of(self, shown: Shown) -> Body:
        body: Body = {"value": shown.value, "variablesReference": self._kept(shown.parts)}
        if shown.type:
            body["type"] = shown.type
        if shown.address is not None and shown.address >= 0:
            body["memoryReference"] = hex(shown.address)
        if shown.parts is not None:
            body |= {"namedVariables": shown.named, "indexedVariables": shown.indexed}
        return body

    def variables(self, arguments: Mapping[str, Any]) -> Body:
        """List the rows of a scope, or below a variable."""
        rows = self._below(arguments["variablesReference"])
        if kind := arguments.get("filter"):
            rows = [row for row in rows if row.name.startswith("[") == (kind == "indexed")]
        first, count = arguments.get("start") or 0, arguments.get("count") or len(rows)
        rows = rows[first : first + count]
        told = []
        for row in rows:
            body = {"name": row.name, **self._told_of(row)}
            if row.put is None:
                body["presentationHint"] = {"attributes": ["readOnly"]}
            told.append(body)
        return {"variables": told}

    def set_variable(self, arguments: Mapping[str, Any]) -> Body:
        """Change a variable or a register."""
        name = arguments["name"]
        row = next((r for r in self._below(arguments["variablesReference"]) if r.name == name), None)
        if row is None:
            raise SunsealError(f"there is no `{name}` among these variables")
        if row.put is None:
            raise SunsealError(f"`{name}` cannot be changed: it lies in registers, or is no number")
        row.put(arguments["value"])
        self._frames = []
        fresh = next(r for r in self._below(arguments["variablesReference"]) if r.name == name)
        return {key: value for key, value in self._told_of(fresh).items() if key != "memoryReference"}

    def evaluate(self, arguments: Mapping[str, Any]) -> Body | tuple[Body, Callable[[], object] | None]:
        """Look at a variable, a register or an I/O register; from the console, carry out a command too."""
        text = arguments["expression"].strip()
        frame = self._of(arguments)
        if arguments.get("context") == "repl" and (done := self._run.command(text)) is not None:
            if isinstance(done, Stopped):
                stop = done
                return {"result": stop.text, "variablesReference": 0}, lambda: self._stand(stop)
            return {"result": done, "variablesReference": 0}
        shown = reading.Reading(self._run).evaluate(text, frame)
        if "=" in text:
            self._frames = []
        body = self._told_of(shown)
        return {"result": body.pop("value"), **body}

    # --- Memory ----------------------------------------------------------------------------------

    def read_memory(self, arguments: Mapping[str, Any]) -> Body:
        """Read memory, as much of it as there is."""
        address = int(arguments["memoryReference"], 0) + arguments.get("offset", 0)
        data, missing = reading.memory(self._machine, address, arguments["count"])
        body: Body = {"address": hex(max(address, 0)), "data": base64.b64encode(data).decode()}
        return body | ({"unreadableBytes": missing} if missing else {})

    def write_memory(self, arguments: Mapping[str, Any]) -> Body:
        """Write memory of any kind."""
        address = int(arguments["memoryReference"], 0) + arguments.get("offset", 0)
        try:
            data = base64.b64decode(arguments["data"], validate=True)
        except ValueError as e:
            raise SunsealError(f"what is to be written is no base64: {e}") from e
        self._machine.write(address, data)
        return {"bytesWritten": len(data)}

    def disassemble(self, arguments: Mapping[str, Any]) -> Body:
        """List instructions around an address."""
        address = int(arguments["memoryReference"], 0) + arguments.get("offset", 0)
        first, count = arguments.get("instructionOffset", 0), arguments["instructionCount"]
        rows = []
        for each in reading.instructions(self._run, address, first, count):
            body: Body = {"address": hex(each.address), "instruction": each.text}
            if each.data:
                body["instructionBytes"] = each.data.hex(" ")
            else:
                body["presentationHint"] = "invalid"
            row = self._run.program.row(each.address) if each.data else None
            if row is not None and row.address == each.address:
                body |= {"location": self._source(row.file), "line": row.line - 1 + self._lines_from}
            rows.append(body)
        return {"instructions": rows}


REQUESTS: dict[str, Callable[[Session, Mapping[str, Any]], Any]] = {
    "initialize": Session.initialize,
    "launch": Session.launch,
    "attach": Session.attach,
    "configurationDone": Session.configuration_done,
    "terminate": Session.terminate,
    "disconnect": Session.disconnect,
    "cancel": Session.cancel,
    "setBreakpoints": Session.set_breakpoints,
    "setFunctionBreakpoints": Session.set_function_breakpoints,
    "setInstructionBreakpoints": Session.set_instruction_breakpoints,
    "setExceptionBreakpoints": Session.set_exception_breakpoints,
    "continue": Session.go_on,
    "next": Session.next,
    "stepIn": Session.step_in,
    "stepOut": Session.step_out,
    "pause": Session.pause,
    "threads": Session.threads,
    "exceptionInfo": Session.exception_info,
    "stackTrace": Session.stack_trace,
    "scopes": Session.scopes,
    "variables": Session.variables,
    "setVariable": Session.set_variable,
    "evaluate": Session.evaluate,
    "readMemory": Session.read_memory,
    "writeMemory": Session.write_memory,
    "disassemble": Session.disassemble,
}
"""Requests that are answered, and by what."""
