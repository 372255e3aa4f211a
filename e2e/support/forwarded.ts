import { spawn } from "node:child_process";
import { once } from "node:events";
import { namespace } from "../deploy/release.ts";
import { clusterEnvironment } from "./provider.ts";

/** Forwards a port of a pod of the installation, as `kubectl port-forward` does, while the body runs. */
export async function withForwarded<T>(
  pod: string,
  port: number,
  body: (url: string) => Promise<T>,
): Promise<T> {
  const args = ["port-forward", pod, `:${port}`, "--namespace", namespace];
  const child = spawn("kubectl", args, {
    env: { ...process.env, ...(await clusterEnvironment()) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  try {
    return await body(`http://127.0.0.1:${await localPortOf(child)}`);
  } finally {
    child.kill();
    await closed;
  }
}

/** The local port that kubectl has chosen, read from its output. */
function localPortOf(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (part: Buffer): void => {
      said += part.toString();
      const port = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(port);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", reject);
    child.once("close", () => reject(new Error(`kubectl port-forward ended: ${said}`)));
  });
}
