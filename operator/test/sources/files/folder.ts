/** A real folder for tests of the file source, and a source that follows it. */
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { startFileSource, type FileSourceOptions } from "../../../src/sources/files/file-source.ts";
import type { FolderState } from "../../../src/sources/files/folder-state.ts";
import { formatManifestProblem } from "../../../src/sources/files/place.ts";

export type TestFolder = {
  readonly path: string;
  /** Writes a file in one step, so that it is never seen half written. */
  write(file: string, text: string): Promise<void>;
  follow(options?: Partial<Pick<FileSourceOptions, "limits" | "times" | "log">>): Promise<Follower>;
  remove(): Promise<void>;
};

type Follower = {
  readonly latest: () => FolderState;
  readonly states: readonly FolderState[];
  /** Resolves with the first state, old or new, that the condition holds for; the test's time limit ends the wait. */
  until(condition: (state: FolderState) => boolean): Promise<FolderState>;
};

export async function createTestFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), "svc-gateway-manifests-"));
  const ends: (() => Promise<void>)[] = [];
  return {
    path,
    async write(file, text) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, ".being-written"), text);
      await rename(join(path, ".being-written"), join(path, file));
    },
    async follow(options = {}) {
      const abort = new AbortController();
      const states: FolderState[] = [];
      let onState = (): void => undefined;
      const source = await startFileSource({
        folder: path,
        signal: abort.signal,
        onState: (state) => {
          states.push(state);
          onState();
        },
        log: failingLog,
        ...options,
      });
      if (!source.ok) throw new Error(formatManifestProblem(source.error));
      ends.push(async () => {
        abort.abort();
        await source.value.closed;
      });
      const latest = (): FolderState => {
        const state = states.at(-1);
        if (state === undefined) throw new Error("no state yet");
        return state;
      };
      return {
        latest,
        states,
        until: (condition) =>
          new Promise((resolve) => {
            onState = () => {
              if (condition(latest())) resolve(latest());
            };
            onState();
          }),
      };
    },
    async remove() {
      for (const end of ends) await end();
      await rm(path, { recursive: true, force: true });
    },
  };
}

const fail = (fields: unknown, message: string): never => {
  throw new Error(`${message} ${JSON.stringify(fields)}`);
};

/** Nothing that the tests do may be logged as an error. */
export const failingLog: Logger = {
  target: "svc_controller",
  error: fail,
  warn: fail,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  isEnabled: () => true,
  child: () => failingLog,
};

export const configMap = (name: string, value = "1"): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  value: "${value}"\n`;

/** The ConfigMaps of a state with their values: `{ one: "1" }`. */
export const valuesOf = ({ world }: FolderState): Record<string, string | undefined> =>
  Object.fromEntries(world.ConfigMap.map(({ metadata, data }) => [metadata.name, data?.["value"]]));

/** The problems of the manifests as text, without the path of the folder. */
export const problemsOf = (folder: TestFolder, { problems }: FolderState): readonly string[] =>
  problems.map((problem) => formatManifestProblem(problem).replaceAll(`${folder.path}/`, ""));
