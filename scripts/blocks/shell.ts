/**
 * Parses the commands of shell scripts, as far as the blocks of pages require: words, quotes, pipes, substitutions
 * and comments.
 */

/** The words of one command, without redirections and leading variable assignments. */
export type ShellCommand = readonly string[];

type Reader = { readonly text: string; at: number };

/** Every command of a script, including those in `$(…)`, in the order in which they end. */
export function commandsOf(script: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  readCommands({ text: script.replaceAll("\\\n", " "), at: 0 }, commands);
  return commands;
}

/** Reads up to the end of the text, or to the parenthesis that ends a substitution. */
function readCommands(reader: Reader, commands: ShellCommand[]): void {
  let words: string[] = [];
  const end = (): void => {
    const command = withoutAssignments(words);
    if (command.length > 0) commands.push(command);
    words = [];
  };
  for (;;) {
    const char = reader.text[reader.at];
    if (char === undefined || char === ")") break;
    if (/[\n|;&]/.test(char)) {
      end();
      reader.at++;
    } else if (/\s/.test(char)) reader.at++;
    else if (char === "#") skipTo(reader, "\n");
    else if (char === "<" || char === ">") {
      while (/[<>&(\s]/.test(reader.text[reader.at] ?? "")) reader.at++;
      readWord(reader, commands);
    } else {
      const word = readWord(reader, commands);
      // The number of a file descriptor belongs to its redirection.
      const isDescriptor = /^\d$/.test(word) && /[<>]/.test(reader.text[reader.at] ?? "");
      if (!isDescriptor) words.push(word);
    }
  }
  end();
  reader.at++;
}

const withoutAssignments = (words: readonly string[]): ShellCommand =>
  words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word)));

function skipTo(reader: Reader, char: string): void {
  const end = reader.text.indexOf(char, reader.at);
  reader.at = end < 0 ? reader.text.length : end;
}

function readWord(reader: Reader, commands: ShellCommand[]): string {
  let word = "";
  for (;;) {
    const char = reader.text[reader.at];
    if (char === undefined || /[\s|;&()<>]/.test(char)) return word;
    reader.at++;
    if (char === "'") word += readQuoted(reader, commands, "'");
    else if (char === '"') word += readQuoted(reader, commands, '"');
    else if (char === "\\") word += reader.text[reader.at++] ?? "";
    else if (char === "$" && reader.text[reader.at] === "(") word += readSubstitution(reader, commands);
    else word += char;
  }
}

function readQuoted(reader: Reader, commands: ShellCommand[], quote: string): string {
  let text = "";
  for (;;) {
    const char = reader.text[reader.at++];
    if (char === undefined || char === quote) return text;
    if (quote === '"' && char === "$" && reader.text[reader.at] === "(")
      text += readSubstitution(reader, commands);
    else text += quote === '"' && char === "\\" ? (reader.text[reader.at++] ?? "") : char;
  }
}

/** Reads a substitution and returns a placeholder, because its output is not known. */
function readSubstitution(reader: Reader, commands: ShellCommand[]): string {
  reader.at++;
  readCommands(reader, commands);
  return "output";
}
