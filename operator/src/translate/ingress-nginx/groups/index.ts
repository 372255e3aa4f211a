/** The translations of all groups of annotations, in the order in which their features are joined: later ones win. */
import type { Group } from "./group.ts";
import { redirects } from "./redirects.ts";

export const groups: readonly Group[] = [redirects];
