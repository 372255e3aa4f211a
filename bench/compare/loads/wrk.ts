import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, temporaryFolder } from "../../processes.ts";
import { benchHost, benchPath, browserHeaders } from "../setup.ts";
import { numberIn, runPinned, type Load } from "./load.ts";

type WrkOptions = {
  readonly host?: string;
  readonly path?: string;
  readonly connections?: number;
  /** The size of the body of a POST request; without it, the method is GET. */
  readonly uploadBytes?: number;
  /** Fields as `Name: Value`, in addition to those of a browser. */
  readonly headers?: readonly string[];
  readonly withToken?: boolean;
};

/**
 * HTTP/1.1 over persistent connections, as a closed loop: each connection sends its next request after the response.
 */
export function wrk(options: WrkOptions = {}): Load {
  const {
    host = benchHost,
    path = benchPath,
    connections = 64,
    uploadBytes,
    headers = [],
    withToken = false,
  } = options;
  return async ({ ports, token }, seconds) => {
    const own = withToken ? [`Authorization: Bearer ${token.token}`] : [];
    const fields = [`Host: ${host}`, ...browserHeaders, ...headers, ...own].flatMap((field) => ["-H", field]);
    const folder = temporaryFolder("wrk");
    try {
      const script = uploadBytes === undefined ? [] : ["-s", writeUpload(folder, uploadBytes)];
      const url = `http://127.0.0.1:${ports.http}${path}`;
      const text = await runPinned("wrk", [
        ...["-t1", `-c${connections}`, `-d${seconds}s`, ...script, ...fields, url],
      ]);
      const socketErrors = /Socket errors: (.*)/.exec(text)?.[1] ?? "";
      const errors =
        numberIn(text, /Non-2xx or 3xx responses: (\d+)/) +
        [...socketErrors.matchAll(/\d+/g)].reduce((sum, [count]) => sum + Number(count), 0);
      return { units: numberIn(text, /(\d+) requests in/), errors };
    } finally {
      removeFolder(folder);
    }
  };
}

function writeUpload(folder: string, bytes: number): string {
  const file = join(folder, "upload.lua");
  writeFileSync(file, `wrk.method = "POST"\nwrk.body = string.rep("x", ${bytes})\n`);
  return file;
}
