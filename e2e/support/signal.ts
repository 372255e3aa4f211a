/**
 * Signals for the process of a container, such as the sudden end of a crash. The API has no such call, and a process
 * cannot kill the first process of its container. A privileged pod with access to the processes of the node does it
 * instead.
 */
import { namespace } from "../deploy/release.ts";
import { call, find } from "./api.ts";
import { installedImage } from "./echo.ts";
import { kubectl } from "./provider.ts";
import { isReady, type Pod } from "./pods.ts";
import { poll } from "./poll.ts";

const name = "e2e-signaller";
const path = `/api/v1/namespaces/${namespace}/pods`;

/** Creates the privileged pod. Wait for it before the fault, so that the signal itself is fast. */
export async function prepareSignals(): Promise<void> {
  const present = await find<Pod>(`${path}/${name}`);
  if (present === undefined) {
    const body = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: {
        hostPID: true,
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "signaller",
            image: await installedImage(),
            command: ["/usr/local/bin/node", "-e", "setInterval(() => {}, 1e6)"],
            securityContext: { privileged: true, runAsUser: 0 },
          },
        ],
      },
    };
    await call(path, { method: "POST", body });
  }
  await poll("the signaller to run", async () => {
    const pod = await find<Pod>(`${path}/${name}`);
    return pod !== undefined && isReady(pod);
  });
}

export const removeSignaller = (): Promise<unknown> => call(`${path}/${name}`, { method: "DELETE" });

/** Kills the program of a pod of the installation with SIGKILL. */
export const killPod = (pod: string): Promise<void> => signalPod(pod, "SIGKILL");

/** Sends a signal to the program of a pod of the installation: the processes with the name of the pod as POD_NAME. */
export async function signalPod(pod: string, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> {
  const program = `
    const { readdirSync, readFileSync } = require("node:fs");
    const wanted = "POD_NAME=" + process.argv[1];
    let count = 0;
    for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
      try {
        if (!readFileSync("/proc/" + pid + "/environ", "latin1").split("\\0").includes(wanted)) continue;
        process.kill(Number(pid), process.argv[2]);
        count += 1;
      } catch {
        // A process that has ended meanwhile.
      }
    }
    console.log(count);
  `;
  const args = [
    "--namespace",
    namespace,
    "exec",
    name,
    "--",
    "/usr/local/bin/node",
    "-e",
    program,
    pod,
    signal,
  ];
  const count = Number(await kubectl(args));
  if (count === 0) throw new Error(`no process of pod ${pod} was found`);
}
