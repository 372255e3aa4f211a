import { stringify } from "yaml";
import type { OutputForm } from "../command-flags.ts";
import { plainStrings } from "./plain-strings.ts";

/** Formats a value in the requested form; the text is generated from strings that are safe in a terminal. */
export function formatData<T>(value: T, form: OutputForm, text: (plain: T) => string): string {
  switch (form) {
    case "text":
      return text(plainStrings(value));
    case "json":
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case "yaml":
      return stringify(value, { aliasDuplicateObjects: false, lineWidth: 110 });
  }
}
