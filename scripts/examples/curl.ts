import { spawnSync } from "node:child_process";

/** Whether there is a curl to send the requests of pages with. */
export const hasCurl = spawnSync("curl", ["--version"]).status === 0;
