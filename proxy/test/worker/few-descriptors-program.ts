/** A process with one worker, for a test that limits its descriptors. Writes its port as a line, and ends with its input. */
import { once } from "node:events";
import { withWorkers } from "./support.ts";

await withWorkers(1, async ({ port }) => {
  console.log(port);
  await once(process.stdin.resume(), "end");
});
process.exit();
