import { expect } from "chai";
import { logLevels, parseLogDirectives, type LogDirectives } from "../../src/telemetry/log-level.ts";
import { createLogLevels } from "../../src/telemetry/log-levels.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createMemorySink } from "./memory-sink.ts";

const directives = (text: string): LogDirectives => {
  const parsed = parseLogDirectives(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};

const written = (text: string): readonly string[] =>
  logLevels.filter(createLogLevels(directives(text)).of("a"));

describe("log levels", () => {
  it("an event is written when it is at least as severe as the threshold of its target", () => {
    expect(written("info")).to.deep.equal(["error", "warn", "info"]);
    expect(written("off")).to.deep.equal([]);
    expect(written("trace")).to.deep.equal(logLevels);
    expect(written("error,a=debug")).to.deep.equal(["error", "warn", "info", "debug"]);
  });

  it("a change reaches loggers that exist, their children and later ones", () => {
    const sink = createMemorySink();
    const levels = createLogLevels(directives("warn"));
    const log = createLogger("svc_proxy", { levels, format: "json", sink });
    const child = log.child("svc_proxy::tls");
    child.debug({}, "before");
    levels.change(directives("info,svc_proxy::tls=debug"));
    child.debug({}, "child");
    log.debug({}, "parent");
    log.child("svc_proxy::tls").debug({}, "later");
    expect(child.isEnabled("debug")).to.equal(true);
    levels.change(directives("off"));
    log.error({}, "after");
    expect(child.isEnabled("error")).to.equal(false);
    const messages = sink.lines.map((line) => (JSON.parse(line) as { message: string }).message);
    expect(messages).to.deep.equal(["child", "later"]);
  });
});
