/** Annotations that only say more about another one. */
import type { NginxAnnotation } from "../annotations/declare.ts";
import type { NginxReader } from "../reader.ts";
import type { GroupContext } from "./group.ts";

/** Reports those that the Ingress itself sets: `why` says without which one they do nothing. */
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
