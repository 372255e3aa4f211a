/**
 * A process with `WORKERS` workers, for a test that limits its descriptors. The backend has the port `BACKEND` on
 * loopback. Writes its port and its warnings as a line, and ends with its input.
 */
import { once } from "node:events";
import { withWorkers } from "./support.ts";

const { WORKERS = "1", BACKEND } = process.env;
await withWorkers(
  Number(WORKERS),
  async ({ port, lines }) => {
    const warnings = lines.filter((line) => line.includes('"level":"WARN"')).map((line) => JSON.parse(line));
    console.log(JSON.stringify({ port, warnings }));
    await once(process.stdin.resume(), "end");
  },
  [],
  { backendPort: Number(BACKEND) },
);
process.exit();
