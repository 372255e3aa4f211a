import type { ClosedPath, ClosedPaths } from "@svc-gateway/common/features/closed-paths.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { decodedPath } from "@svc-gateway/common/values/path-segments.ts";
import { asOctets } from "../routing/decoded-path.ts";

/** The maximum number of steps for matching a path with all regular expressions of a route: about 100 milliseconds. */
const maxSteps = 2_000_000;

/**
 * Answers requests to closed paths. A path is compared both unchanged and in its decoded form, so that percent-encoding
 * cannot bypass the filter. A path that is too long for the regular expressions is closed. See
 * docs/features/closed-paths.md.
 */
export function closedPathsFilter({ paths, statusCode }: ClosedPaths): Filter {
  const reply: LocalReply = { status: statusCode, error: "path is closed" };
  const tests = paths.map(compile);
  const steps = tests.reduce((sum, one) => sum + one.steps, 0);
  return {
    slug: "closed-paths",
    onRequest({ matchedPath: path }) {
      // Both forms are examined.
      if (steps * path.length * 2 > maxSteps) return reply;
      const decoded = decodedPath(path);
      const isClosed = tests.some(({ test }) => test(path) || (decoded !== path && test(decoded)));
      return isClosed ? reply : undefined;
    },
  };
}

type Compiled = { readonly steps: number; readonly test: (path: string) => boolean };

function compile({ type, value }: ClosedPath): Compiled {
  const text = asOctets(value);
  if (type === "exact") return { steps: 0, test: (path) => path === text };
  if (type === "beginning") return { steps: 0, test: (path) => path.startsWith(text) };
  const regex = compileRegex(text, { whole: false });
  // The controller compiles with the same code, so this is unexpected: an invalid regular expression closes every path.
  return regex.ok ? { steps: regex.value.steps, test: regex.value.test } : { steps: 0, test: () => true };
}
