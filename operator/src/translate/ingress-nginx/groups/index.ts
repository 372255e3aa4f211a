/** The translations of all groups of annotations, in the order in which their features are joined: later ones win. */
import { addresses } from "./addresses.ts";
import { backendProtocols } from "./backend-protocol.ts";
import { bodySize } from "./body-size.ts";
import { basicAuth } from "./basic-auth.ts";
import type { Group } from "./group.ts";
import { hsts } from "./hsts.ts";
import { limits } from "./limits.ts";
import { redirects } from "./redirects.ts";
import { snippets } from "./snippets.ts";
import { timeouts } from "./timeouts.ts";

export const groups: readonly Group[] = [
  redirects,
  bodySize,
  addresses,
  basicAuth,
  hsts,
  timeouts,
  backendProtocols,
  limits,
  snippets,
];
