/** The data of a process that the console shows. It contains no secrets, except where a type documents them. */
import type { HealthDocument } from "@svc-gateway/common/admin/health.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { TranslatedFolder } from "../translate-folder.ts";

export type ConsoleSource = {
  readonly mode: "controller" | "standalone";
  readonly version: string;
  readonly portMap: readonly PortMapping[];
  readonly health: () => HealthDocument;
  /** The last build; undefined before the first one. Its snapshot contains private keys, which no page reads. */
  readonly build: () => ConsoleBuild | undefined;
  /** The known proxies; undefined if the process serves requests itself. */
  readonly proxies: () => readonly ConsoleProxy[] | undefined;
  /** Properties of the process, by name. */
  readonly facts: () => readonly (readonly [name: string, value: string])[];
  /** Returns the text of `/metrics` with request counters; absent if this process does not serve requests. */
  readonly traffic?: () => Promise<string>;
};

export type ConsoleBuild = TranslatedFolder & {
  /** The time of the build, in milliseconds since the epoch. */
  readonly builtMs: number;
};

export type ConsoleProxy = {
  readonly name: string;
  readonly namespace: string;
  /** `shared`, or the Gateway (`namespace/name`). */
  readonly scope: string;
  readonly phase: string;
  readonly node: string;
  /** The state of its connection; absent if it is not connected to this controller. */
  readonly stream?: {
    readonly release: string;
    readonly health: string;
    readonly degradedChecks: readonly string[];
    readonly version: string;
    readonly isInSync: boolean;
    /** How long the proxy has lacked the last snapshot, in milliseconds; 0 if it has it. */
    readonly behindMs: number;
  };
};
