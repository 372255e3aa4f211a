import { pathLevelSchema } from "@svc-gateway/common/features/path-normalize.ts";
import { comparedPath, parseIngressPath } from "@svc-gateway/operator/translate/ingress/path.ts";
import { compilePath } from "@svc-gateway/proxy/routing/path-rule.ts";
import { expect } from "chai";
import fc from "fast-check";

describe("comparedPath", () => {
  const piece = fc.constantFrom(
    "/",
    "/",
    "a",
    ".",
    "..",
    "%2F",
    "%2f",
    "%5C",
    "\\",
    "%2e",
    "%41",
    "%25",
    "é",
  );

  it("comparedPath is the path that the proxies compare, at every level", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join("")}`),
        fc.constantFrom("Exact", "Prefix", "ImplementationSpecific"),
        fc.constantFrom(...pathLevelSchema.options),
        fc.boolean(),
        (written, pathType, level, isDecoded) => {
          const parsed = parseIngressPath(written, pathType, undefined, true);
          if (!parsed.ok) return;
          const rule = compilePath(parsed.value, { level, isDecoded });
          expect(rule.ok && rule.value).to.have.property(
            "text",
            comparedPath(parsed.value, { level, isDecoded }),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });
});
