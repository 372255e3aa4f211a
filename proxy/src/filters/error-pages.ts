import type { ErrorPages } from "@svc-gateway/common/features/error-pages.ts";
import type { ErrorPagePlan, Filter } from "../exchange/filter.ts";
import type { FilterEnvironment } from "./environment.ts";

/** Plans which errors of the request are answered by a Service. See docs/features/error-pages.md. */
export function errorPagesFilter(pages: ErrorPages, { upstreamOf }: FilterEnvironment): Filter {
  const { codes, page, standIn, ownOnly, fields } = pages;
  const plan: ErrorPagePlan = {
    codes: new Set(codes),
    takesBackends: ownOnly !== true,
    page: page && upstreamOf(page.endpoints, page.protocol),
    standIn: standIn && upstreamOf(standIn.endpoints, standIn.protocol),
    fields: fields.flatMap(({ name, value }) => [name, value]),
  };
  return {
    slug: "error-pages",
    onRequest(exchange) {
      // The status of a question decides on the request that waits for it, so an error page must not change that status
      // (docs/features/ext-auth.md, "By URL").
      if (exchange.connection.isQuestion !== true) exchange.errorPages = plan;
      return undefined;
    },
  };
}
