/** What the console shows, from the process that it belongs to. Nothing of it is a secret but where a type says so. */
import type { HealthDocument } from "@svc-gateway/common/admin/health.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { TranslatedFolder } from "../translate-folder.ts";

export type ConsoleSource = {
  readonly mode: "controller" | "standalone";
  readonly version: string;
  readonly portMap: readonly PortMapping[];
  readonly health: () => HealthDocument;
  /** The last build; undefined before the first one. Its snapshot holds private keys, which no page reads. */
  readonly build: () => ConsoleBuild | undefined;
  /** The proxies that are known; undefined where the process serves by itself. */
  readonly proxies: () => readonly ConsoleProxy[] | undefined;
  /** Facts about the process, by name. */
  readonly facts: () => readonly (readonly [name: string, value: string])[];
  /** The text of `/metrics` with what was served; undefined where this process does not see requests. */
  readonly traffic?: () => Promise<string>;
};

export type ConsoleBuild = TranslatedFolder & {
  /** Milliseconds since the epoch. */
  readonly builtMs: number;
};

export type ConsoleProxy = {
  readonly name: string;
  readonly namespace: string;
  /** `shared`, or the Gateway (`namespace/name`). */
  readonly scope: string;
  readonly phase: string;
  readonly node: string;
  /** Absent: it is not connected to this controller. */
  readonly stream?: {
    readonly release: string;
    readonly health: string;
    readonly degradedChecks: readonly string[];
    readonly version: string;
    readonly isInSync: boolean;
    /** For how long it has not had the last snapshot, in milliseconds; 0 while it has. */
    readonly behindMs: number;
  };
};
