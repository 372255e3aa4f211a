/** Replaces objects in the texts of manifests. Documents without such an object are kept unchanged. */
import { Document, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from "yaml";
import { splitDocuments } from "@svc-gateway/operator/sources/files/split.ts";

/** Returns the replacement for an object, such as its edited form and additional objects; undefined to keep it. */
export type Replace = (object: ManifestNode) => readonly ManifestNode[] | undefined;

/** An object in the form of its text, with comments. */
export type ManifestNode = YAMLMap;

/** YAML 1.1, which kubectl reads. */
const parseOptions = { version: "1.1", keepSourceTokens: false, uniqueKeys: false } as const;

/** Rewrites the text of one file; JSON remains JSON. */
export function rewriteText(text: string, isJson: boolean, replace: Replace): string {
  const documents = splitDocuments(text.replace(/^\uFEFF/, "")).map((one) =>
    rewriteDocument(one.text, replace),
  );
  if (!isJson) return joinDocuments(documents.flat());
  const values = documents.flat().map((one) => parseDocument(one, parseOptions).toJS() as unknown);
  const [first] = values;
  const whole = values.length === 1 ? first : { apiVersion: "v1", kind: "List", items: values };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

/** The documents that replace one. */
function rewriteDocument(text: string, replace: Replace): readonly string[] {
  const document = parseDocument(text, parseOptions);
  const { contents } = document;
  if (document.errors.length > 0 || !isMap(contents)) return [text];
  const write = (node: YAMLMap, isFirst: boolean): string => {
    const one = new Document(node, { version: "1.1" });
    if (isFirst) {
      one.commentBefore = document.commentBefore;
      one.comment = document.comment;
    }
    return one.toString(styleOf(text));
  };
  const items = contents.get("items", true);
  if (isSeq(items) && String(contents.get("kind")).endsWith("List")) {
    const replaced = items.items.map((item) => (isMap(item) ? replace(item) : undefined));
    if (replaced.every((one) => one === undefined)) return [text];
    items.items = items.items.flatMap((item, at): readonly unknown[] => replaced[at] ?? [item]);
    return [document.toString(styleOf(text))];
  }
  const nodes = replace(contents);
  return nodes === undefined ? [text] : nodes.map((node, at) => write(node, at === 0));
}

/** The style of the surrounding text, such as the indentation of lists; lines are not folded. */
const styleOf = (text: string): { readonly [name: string]: number | boolean } => ({
  lineWidth: 0,
  flowCollectionPadding: /[[{] /.test(text),
  indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
});

/** Joins documents, with a marker between them. */
export function joinDocuments(documents: readonly string[]): string {
  return documents
    .map((one, at) => {
      const text = one.endsWith("\n") || one === "" ? one : `${one}\n`;
      return at === 0 || /^---(?:\s|$)/.test(text) ? text : `---\n${text}`;
    })
    .join("");
}

/** Creates the node of a new object. */
export const createNode = (object: object): ManifestNode =>
  new Document(object, { aliasDuplicateObjects: false }).contents as unknown as YAMLMap;

/** The text of a field by its path; undefined if the field is not a text. */
export function textAt(node: ManifestNode, path: readonly string[]): string | undefined {
  const found = node.getIn(path, true);
  return isScalar(found) && typeof found.value === "string" ? found.value : undefined;
}
