import { isDeepStrictEqual } from "node:util";
import { defaultIn } from "@svc-gateway/common/settings/flag.ts";
import { settingName } from "@svc-gateway/common/settings/read-flags.ts";
import { flagsOf, type StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";

/** Flags that this release accepts, but whose features it does not have yet. */
const unusedFlags: ReadonlySet<string> = new Set(["status-address"]);

/** One line for each such flag that is set, because a user who sets it relies on it. */
export const describeUnusedSettings = (settings: StandaloneSettings): readonly string[] =>
  flagsOf("standalone")
    .filter(
      (flag) =>
        unusedFlags.has(flag.name) &&
        !isDeepStrictEqual(
          settings[settingName(flag) as keyof StandaloneSettings],
          defaultIn(flag, "standalone"),
        ),
    )
    .map(({ name }) => `--${name}: has no effect in this release`);
