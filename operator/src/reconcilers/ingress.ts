import { isDeepStrictEqual } from "node:util";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { Build } from "../build/table-builder.ts";
import type { StatusChange } from "../write/status-writer.ts";
import { createAddressReader, type Address } from "./ingress-address.ts";
import type { Reconciler } from "./reconciler.ts";
import { uniformStatusReconciler } from "./status-reconciler.ts";

export type IngressReconcilerOptions = {
  /** The value of `--status-address`. */
  readonly statusAddress: string | undefined;
  /** The Service of the shared proxies. Its addresses are those of the Ingresses if `--status-address` is not set. */
  readonly sharedProxyService: NamespacedName;
};

/** Writes `status.loadBalancer` of our Ingresses (docs/controller.md, "Statuses"). */
export function ingressReconciler(options: IngressReconcilerOptions): Reconciler {
  const addressesOf = createAddressReader(options);
  const changeOf = rememberLast((addresses: readonly Address[]) => setAddresses(addresses));
  return uniformStatusReconciler({
    kind: "Ingress",
    objects: ({ translation }: Build) => translation.statusIngresses,
    change: ({ world }) => changeOf(addressesOf(world)),
    release: ({ world }) => clearAddresses(addressesOf(world)),
  });
}

/** Replaces the whole list, which is ours: an Ingress is served by one controller, and entries have no owner. */
const setAddresses =
  (addresses: readonly Address[]): StatusChange =>
  (status) =>
    isDeepStrictEqual(presentAddresses(status), addresses)
      ? {}
      : { loadBalancer: { ingress: addresses.length === 0 ? null : addresses } };

/** Removes the addresses that this controller wrote; those that another controller has written since are kept. */
const clearAddresses =
  (addresses: readonly Address[]): StatusChange =>
  (status) =>
    addresses.length > 0 && isDeepStrictEqual(presentAddresses(status), addresses)
      ? { loadBalancer: { ingress: null } }
      : {};

const presentAddresses = (status: unknown): unknown =>
  (status as { readonly loadBalancer?: { readonly ingress?: unknown } } | undefined)?.loadBalancer?.ingress ??
  [];

/** Remembers the result for the last input. */
function rememberLast<I, O>(compute: (input: I) => O): (input: I) => O {
  let last: { readonly input: I; readonly output: O } | undefined;
  return (input) => {
    if (last === undefined || last.input !== input) last = { input, output: compute(input) };
    return last.output;
  };
}
