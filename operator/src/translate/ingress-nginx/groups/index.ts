/** The translations of all groups of annotations, in the order in which their features are joined: later ones win. */
import { addresses } from "./addresses.ts";
import { bodySize } from "./body-size.ts";
import type { Group } from "./group.ts";
import { hsts } from "./hsts.ts";
import { redirects } from "./redirects.ts";

export const groups: readonly Group[] = [redirects, bodySize, addresses, hsts];
