import type { Form } from "./form.ts";
import { integerForm, parseInteger } from "./integer.ts";
import type { Problem, Result } from "./result.ts";

const ports = { min: 1, max: 65535 };

export const portForm: Form = integerForm(ports);

/** Reads a TCP or UDP port, 1 to 65535. */
export const parsePort = (text: string): Result<number, Problem> => parseInteger(text, ports);

/** Reads a port to listen on, 0 to 65535, where 0 requests a free one from the operating system. */
export const parseListenPort = (text: string): Result<number, Problem> =>
  parseInteger(text, { min: 0, max: 65535 });
