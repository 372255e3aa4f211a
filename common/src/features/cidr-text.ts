import { z } from "zod";
import { parseCidr } from "../values/cidr.ts";

/** A range in the snapshot: text that `parseCidr` accepts. */
export const cidrTextSchema = z.string().refine((text) => parseCidr(text).ok, "is not a CIDR");
