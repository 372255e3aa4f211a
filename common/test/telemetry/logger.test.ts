import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { createLogLevels } from "../../src/telemetry/log-levels.ts";
import { parseLogDirectives } from "../../src/telemetry/log-level.ts";
import { logFormatFor, type LogFormat } from "../../src/telemetry/log-format.ts";
import { createLogger, silentLogger, type Logger } from "../../src/telemetry/logger.ts";
import { createMemorySink, type MemorySink } from "./memory-sink.ts";

function setUp(level: string = "trace", format: LogFormat = "json"): { sink: MemorySink; logger: Logger } {
  const directives = parseLogDirectives(level);
  if (!directives.ok) throw new Error(directives.error.message);
  const sink = createMemorySink();
  return {
    sink,
    logger: createLogger("svc_proxy", { levels: createLogLevels(directives.value), format, sink }),
  };
}

const parsed = (sink: MemorySink): Record<string, unknown>[] =>
  sink.lines.map((line) => JSON.parse(line) as Record<string, unknown>);

describe("logger", () => {
  it("an event is one JSON object with time, level, target and message first", () => {
    const { sink, logger } = setUp();
    const before = Date.now();
    logger.warn({ route: "a/b", count: 3 }, "route shadowed");
    const [event] = parsed(sink);
    expect(Object.keys(event ?? {})).to.deep.equal([
      "timestamp",
      "level",
      "target",
      "message",
      "route",
      "count",
    ]);
    expect(event).to.include({
      level: "WARN",
      target: "svc_proxy",
      message: "route shadowed",
      route: "a/b",
      count: 3,
    });
    expect(event?.["timestamp"]).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(String(event?.["timestamp"]))).to.be.within(before, Date.now());
  });

  it("an event is written only when it passes the threshold of its target", () => {
    const { sink, logger } = setUp("warn,svc_proxy::tls=debug,svc_proxy::access=off");
    const tls = logger.child("svc_proxy::tls");
    const access = logger.child("svc_proxy::access");
    for (const one of [logger, tls, access]) {
      for (const level of ["error", "warn", "info", "debug", "trace"] as const) {
        const written = sink.lines.length;
        one[level]({}, "event");
        expect(sink.lines.length > written, `${one.target} ${level}`).to.equal(one.isEnabled(level));
      }
    }
    expect(parsed(sink).map(({ target, level }) => `${String(target)} ${String(level)}`)).to.deep.equal([
      "svc_proxy ERROR",
      "svc_proxy WARN",
      "svc_proxy::tls ERROR",
      "svc_proxy::tls WARN",
      "svc_proxy::tls INFO",
      "svc_proxy::tls DEBUG",
    ]);
  });

  it("the fields of a child are added to its events and to those of its children", () => {
    const { sink, logger } = setUp();
    logger
      .child("svc_discovery", { proxy: "p1" })
      .child("svc_discovery", { stream: 2 })
      .info({ proxy: "p2" }, "ack");
    expect(parsed(sink)[0]).to.include({ target: "svc_discovery", proxy: "p2", stream: 2 });
  });

  it("a field never replaces a standard property of an event", () => {
    const { sink, logger } = setUp();
    logger.info({ level: "x", message: "y", timestamp: "z", target: "t" }, "real");
    expect(parsed(sink)[0]).to.include({
      level: "INFO",
      message: "real",
      target: "svc_proxy",
      level_: "x",
      message_: "y",
    });
  });

  it("an event is one line of valid JSON for any text", () => {
    const { sink, logger } = setUp();
    const text = 'a"b\\c\nd\u2028\ud800\u0000\u001b[31m%s %d';
    logger.info({ text }, text);
    expect(sink.lines).to.have.length(1);
    expect(parsed(sink)[0]).to.include({ text, message: text });
  });

  it("an error is written with message, code and cause", () => {
    const { sink, logger } = setUp();
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    logger.error({ err: new Error("cannot connect", { cause }) }, "failed");
    expect(parsed(sink)[0]?.["err"]).to.deep.include({ name: "Error", message: "cannot connect" });
    expect(sink.lines[0]).to.include("ECONNREFUSED");
  });

  it("fields that JSON cannot hold are written in a readable form", () => {
    const { sink, logger } = setUp();
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    logger.info(
      {
        circular,
        big: 12n,
        nothing: undefined,
        run: () => 1,
        map: new Map([["k", 1]]),
        set: new Set(["a"]),
        bytes: Buffer.from("abc"),
        bad: new Date(Number.NaN),
        none: null,
      },
      "odd",
    );
    expect(parsed(sink)[0]).to.deep.include({
      big: "12",
      map: { k: 1 },
      set: ["a"],
      bytes: "[3 bytes]",
      bad: "invalid date",
      none: null,
    });
    expect(sink.lines[0]).to.include("[nested too deep]");
    expect(parsed(sink)[0]).to.not.have.any.keys("nothing", "run");
  });

  it("console lines are readable and cannot control a terminal", () => {
    const { sink, logger } = setUp("info", "console");
    logger.info({ name: "a/b", text: "two words", evil: "\u001b[2J\n\u009b\u202e", count: 2 }, "line\nbreak");
    expect(sink.lines).to.have.length(1);
    expect(sink.lines[0]?.slice(25)).to.equal(
      'INFO  svc_proxy: line\\u000abreak name=a/b text="two words" evil="\\u001b[2J\\n\\u009b\\u202e" count=2',
    );
  });

  it("lines for a terminal have a local time and colours, and still cannot control it", () => {
    const { sink, logger } = setUp("info", "terminal");
    logger.error({ evil: "\u001b[2J" }, "line\nbreak");
    const line = sink.lines[0] ?? "";
    expect(stripVTControlCharacters(line)).to.match(
      /^\d\d:\d\d:\d\d\.\d{3} ERROR svc_proxy: line\\u000abreak evil="\\u001b\[2J"$/,
    );
    expect(line).to.include("\u001b[31mERROR\u001b[39m");
  });

  it("the log format is JSON for programs and readable for terminals, unless one is chosen", () => {
    const terminal = { isTerminal: true, hasColours: true };
    const plain = { isTerminal: true, hasColours: false };
    const pipe = { isTerminal: false, hasColours: false };
    expect([terminal, plain, pipe].map((to) => logFormatFor("auto", to))).to.deep.equal([
      "terminal",
      "console",
      "json",
    ]);
    expect([terminal, plain, pipe].map((to) => logFormatFor("console", to))).to.deep.equal([
      "terminal",
      "console",
      "console",
    ]);
    expect(logFormatFor("json", terminal)).to.equal("json");
  });

  it("the number of dropped lines is logged once the reader has caught up", () => {
    const { sink, logger } = setUp();
    sink.block(true);
    logger.info({}, "lost");
    logger.info({}, "lost");
    sink.block(false);
    logger.child("svc_proxy::tls").info({}, "first");
    logger.info({}, "second");
    expect(
      parsed(sink).map(({ level, message, dropped_lines }) => [level, message, dropped_lines]),
    ).to.deep.equal([
      ["WARN", "log lines were dropped", 2],
      ["INFO", "first", undefined],
      ["INFO", "second", undefined],
    ]);
  });

  it("the silent logger writes nothing", () => {
    silentLogger.child("x").error({}, "nothing");
    expect(silentLogger.isEnabled("error")).to.equal(false);
  });
});
