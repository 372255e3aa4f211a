/** The items of a list with commas. */
export const list = (text = ""): readonly string[] => text.split(",").flatMap((one) => one.trim() || []);
