import { parseLogDirectives } from "../telemetry/log-level.ts";
import type { LogLevelControl } from "../telemetry/log-level-control.ts";
import { maxDurationMs, parseDuration } from "../values/duration.ts";
import type { Problem } from "../values/result.ts";
import { jsonAnswer, textAnswer, type AdminAnswer } from "./admin-answer.ts";
import type { AdminRoute } from "./admin-app.ts";

export const logLevelPath = "/api/v1/log-level";

const usualTime = "15m";
const minForMs = 1000;

/**
 * The log level of a process: GET shows it, PUT changes it to the directives in the body for the time in the parameter
 * `for`, and DELETE resets it to `--log`. Only callers within the pod may change it (docs/operations.md, "Log level").
 */
export const logLevelRoute = (control: LogLevelControl): AdminRoute => ({
  path: logLevelPath,
  answer: () => jsonAnswer(control.state()),
  change({ method, query, body }) {
    if (method === "DELETE") {
      control.reset();
      return jsonAnswer(control.state());
    }
    const directives = parseLogDirectives(body);
    if (!directives.ok) return badRequest(directives.error);
    const time = parseDuration(query.get("for") ?? usualTime, maxDurationMs);
    if (!time.ok) return badRequest({ ...time.error, message: `for: ${time.error.message}` });
    if (time.value < minForMs)
      return badRequest({ message: "for: the time is too short", expected: "1s to 24h" });
    control.change(directives.value, time.value);
    return jsonAnswer(control.state());
  },
});

const badRequest = ({ message, expected }: Problem): AdminAnswer =>
  textAnswer(`${message}${expected === undefined ? "" : `, expected ${expected}`}\n`, 400);
