import { stringify } from "yaml";
import type { OutputForm } from "../command-flags.ts";

/** A value in the requested form; the text form is built only when needed. */
export function formatData(value: unknown, form: OutputForm, text: () => string): string {
  switch (form) {
    case "text":
      return text();
    case "json":
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case "yaml":
      return stringify(value, { aliasDuplicateObjects: false, lineWidth: 110 });
  }
}
