/**
 * The ports on which the pods of the gateway itself listen. No backend may refer to them. See docs/security.md, "Ports
 * of the gateway itself".
 */
import { z } from "zod";

/** One address of a pod; `shared` if it is also that of its node. */
const ownAddressSchema = z.object({
  host: z.string(),
  ports: z.array(z.int().min(1).max(65535)),
  shared: z.boolean().optional(),
});

export const ownPortsSchema = z.object({ addresses: z.array(ownAddressSchema) });

export type OwnAddress = Readonly<Omit<z.infer<typeof ownAddressSchema>, "ports">> & {
  readonly ports: readonly number[];
};

/** The addresses of all pods, sorted by host without duplicates; hosts are canonical addresses. */
export type OwnPorts = { readonly addresses: readonly OwnAddress[] };

export const noOwnPorts: OwnPorts = { addresses: [] };
