import type { Subject } from "./subject.ts";

/**
 * A program that the user provides as `name=command`: it listens on $PORT with HTTP/1.1 or HTTP/2 and forwards to
 * $BACKEND_PORT.
 */
export function extra(text: string): Subject {
  const [, name = "", command = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (command === "") throw new Error(`EXTRA: ${JSON.stringify(text)} is not name=command`);
  return {
    name,
    missing: () => undefined,
    configure: ({ backendPort }, { http }) => ({
      command: "sh",
      args: ["-c", `exec ${command}`],
      env: { PORT: String(http), BACKEND_PORT: String(backendPort) },
    }),
  };
}
