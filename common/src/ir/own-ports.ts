/**
 * The ports at which the pods of the gateway itself answer, and to which no backend may lead. See docs/security.md,
 * "Ports of the gateway itself".
 */
import { z } from "zod";

/** One address of a pod; `shared` when it is that of its node as well. */
const ownAddressSchema = z.object({
  host: z.string(),
  ports: z.array(z.int().min(1).max(65535)),
  shared: z.boolean().optional(),
});

export const ownPortsSchema = z.object({ addresses: z.array(ownAddressSchema) });

export type OwnAddress = Readonly<Omit<z.infer<typeof ownAddressSchema>, "ports">> & {
  readonly ports: readonly number[];
};

/** Sorted by host, each once; hosts are canonical addresses. */
export type OwnPorts = { readonly addresses: readonly OwnAddress[] };

export const noOwnPorts: OwnPorts = { addresses: [] };
