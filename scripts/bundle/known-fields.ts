import type { Plugin } from "esbuild";
import { contractFields } from "../../common/src/ir/contract-fields.ts";

/**
 * Inserts the list of known fields (docs/adr/0040-known-fields.md) into the bundle instead of the code that reads it
 * from the schemas. A proxy sends the list before it needs any schema, and loading them would take a tenth of its
 * start.
 */
export const knownFields: Plugin = {
  name: "known-fields",
  setup(bundle) {
    bundle.onLoad({ filter: /[/\\]common[/\\]src[/\\]ir[/\\]contract-fields\.ts$/ }, () => ({
      contents: [
        `const fields = ${JSON.stringify(contractFields())};`,
        "export const contractFields = () => fields;",
      ].join("\n"),
    }));
  },
};
