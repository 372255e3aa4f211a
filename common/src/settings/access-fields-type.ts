import { readFieldChoice, type FieldChoice } from "../values/access-field-choice.ts";
import { splitCsv } from "../values/list.ts";
import type { FlagType } from "./flag.ts";

/** The type of flags that select fields of access-log lines. */
export const accessFieldsType: FlagType<FieldChoice, ""> = {
  name: "field,...",
  unit: "",
  expected:
    'names of fields of the access log, either all that lines have ("host,status") or changes ("+request_id,-mirror")',
  parse: (text) => readFieldChoice(splitCsv(text)),
  explain(text) {
    const choice = readFieldChoice(splitCsv(text));
    return choice.ok ? undefined : choice.error.message;
  },
  format: (words) => words.join(","),
  acceptsEmpty: true,
};
