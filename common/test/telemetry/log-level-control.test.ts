import { expect } from "chai";
import { createLogLevelControl } from "../../src/telemetry/log-level-control.ts";
import type { LogDirectives } from "../../src/telemetry/log-level.ts";
import { createLogLevels } from "../../src/telemetry/log-levels.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createManualClock } from "../time/manual-clock.ts";
import { createMemorySink } from "./memory-sink.ts";

const level = (name: LogDirectives["level"]): LogDirectives => ({ level: name, targets: [] });

function setUp(configured = level("info")) {
  const clock = createManualClock(0);
  const sink = createMemorySink();
  const levels = createLogLevels(configured);
  const log = createLogger("svc_proxy", { levels, format: "json", sink });
  const control = createLogLevelControl({ configured, apply: levels.change, log, clock });
  const events = () =>
    sink.lines.map((line) => {
      const { event, log: to, reason } = JSON.parse(line) as Record<string, unknown>;
      return [event, to, reason];
    });
  return { clock, control, log, events };
}

describe("log level control", () => {
  it("a change is in force for its time and then returns to the configured level", async () => {
    const { clock, control, log, events } = setUp();
    control.change(level("debug"), 60_000);
    expect(log.isEnabled("debug")).to.equal(true);
    expect(control.state()).to.deep.equal({
      log: "debug",
      configured: "info",
      until: "1970-01-01T00:01:00.000Z",
    });
    await clock.advance(59_999);
    expect(log.isEnabled("debug")).to.equal(true);
    await clock.advance(1);
    expect(log.isEnabled("debug")).to.equal(false);
    expect(control.state()).to.deep.equal({ log: "info", configured: "info", until: null });
    expect(events()).to.deep.equal([
      ["log_level_changed", "debug", "admin"],
      ["log_level_changed", "info", "time is over"],
    ]);
  });

  it("a second change replaces the first one and its time", async () => {
    const { clock, control } = setUp();
    control.change(level("debug"), 1000);
    control.change(level("trace"), 5000);
    expect(clock.pending()).to.equal(1);
    await clock.advance(1000);
    expect(control.state().log).to.equal("trace");
    await clock.advance(4000);
    expect(control.state().log).to.equal("info");
  });

  it("a reset ends a change at once, and is silent where nothing is changed", () => {
    const { clock, control, events } = setUp();
    control.reset();
    expect(events()).to.deep.equal([]);
    control.change(level("debug"), 1000);
    control.reset();
    expect(control.state()).to.include({ log: "info", until: null });
    expect(clock.pending()).to.equal(0);
  });

  it("a change that hides warnings is logged before it, and one that shows them after it", () => {
    const { control, events } = setUp();
    control.change(level("off"), 1000);
    expect(events()).to.deep.equal([["log_level_changed", "off", "admin"]]);
    control.reset();
    expect(events().at(-1)).to.deep.equal(["log_level_changed", "info", "admin"]);
  });

  it("closing ends the wait for the end of a change", () => {
    const { clock, control } = setUp();
    control.change(level("debug"), 1000);
    control.close();
    expect(clock.pending()).to.equal(0);
  });
});
