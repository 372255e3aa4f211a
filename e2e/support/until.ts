import { askAdmin, leaderName } from "./pods.ts";
import { poll } from "./poll.ts";

type Fleet = {
  readonly proxies: readonly {
    readonly pod_name: string;
    readonly component: string;
    readonly in_sync: boolean | null;
  }[];
};

/**
 * Polls, and then waits until every shared proxy has the table that the leader serves. If one proxy meets a
 * condition, the next request may still reach another one that does not.
 */
export const until: typeof poll = async (what, ask, limitMs) => {
  const met = await poll(what, ask, limitMs);
  await poll("every shared proxy to be in sync", () => areInSync(), limitMs);
  return met;
};

/** Whether the shared proxies, or those with these names, have the table that the leader serves. */
export async function areInSync(names?: readonly string[]): Promise<boolean> {
  const leader = await leaderName();
  if (leader === undefined) return false;
  const fleet = JSON.parse(await askAdmin(leader, "/api/v1/fleet/proxies")) as Fleet;
  const proxies = fleet.proxies.filter(
    ({ component, pod_name }) =>
      component === "shared-proxy" && (names === undefined || names.includes(pod_name)),
  );
  return proxies.length >= (names?.length ?? 1) && proxies.every(({ in_sync }) => in_sync === true);
}
