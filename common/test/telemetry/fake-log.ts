import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";

export type LogLine = {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
};

/** A logger that records all lines, including those of its children. */
export function fakeLog(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write =
    (level: string): Logger["info"] =>
    (fields, message) =>
      void lines.push({ level, fields, message });
  return {
    target: "svc_proxy",
    lines,
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    trace: write("trace"),
    isEnabled: () => true,
    child() {
      return this;
    },
  };
}
