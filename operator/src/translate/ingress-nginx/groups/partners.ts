/** Annotations that only have an effect together with another one. */
import type { NginxAnnotation } from "../annotations/declare.ts";
import type { NginxReader } from "../reader.ts";
import type { GroupContext } from "./group.ts";

/** Reports partners that the Ingress itself sets. `why` names the annotation without which they have no effect. */
export function reportPartners(
  partners: readonly NginxAnnotation[],
  why: string,
  read: NginxReader,
  { noEffect }: Pick<GroupContext, "noEffect">,
): void {
  for (const partner of partners) {
    if (read.sourceOf(partner) === "annotation") noEffect(partner, why);
  }
}
