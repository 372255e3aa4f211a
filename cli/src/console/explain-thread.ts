/** The program of the thread that explains requests. It cannot block the process; the explainer can terminate it. */
import { parentPort, type MessagePort } from "node:worker_threads";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { answerRequest } from "../explain/answer.ts";
import { readRequest } from "../explain/request.ts";
import type { TranslatedFolder } from "../translate-folder.ts";
import type { Explained, TypedRequest } from "./pages/explain.ts";

/** A message to the thread. */
export type ToThread =
  | { readonly type: "folder"; readonly folder: TranslatedFolder }
  | {
      readonly type: "ask";
      readonly id: number;
      readonly typed: TypedRequest;
      readonly portMap: readonly PortMapping[];
    };

/** A message from the thread. */
export type FromThread = { readonly id: number; readonly explained: Explained };

const port = parentPort as MessagePort;
let folder: TranslatedFolder | undefined;

port.on("message", (message: ToThread) => {
  if (message.type === "folder") folder = message.folder;
  else port.postMessage({ id: message.id, explained: explain(message) } satisfies FromThread);
});

function explain({ typed, portMap }: Extract<ToThread, { type: "ask" }>): Explained {
  const fields = typed.headers.split(/\r?\n/).filter((line) => line.trim() !== "");
  const request = readRequest(typed.method.trim(), typed.url.trim(), fields);
  if (!request.ok) return { type: "problem", message: request.error.message };
  if (folder === undefined) return { type: "problem", message: "nothing has been built yet" };
  try {
    return { type: "answer", answer: answerRequest(request.value, folder, portMap) };
  } catch (error) {
    return { type: "problem", message: `the request cannot be explained: ${textOf(error)}` };
  }
}
