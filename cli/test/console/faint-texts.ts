/**
 * A program for the page that returns the texts with a contrast of less than 4.5 to 1 with their background (WCAG 2.2,
 * 1.4.3). It is a string, because the project has no types of the DOM.
 */
export const faintTexts = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const ground = channels(getComputedStyle(at).backgroundColor);
      if (ground.length === 3 || ground[3] > 0.99) return ground;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (text === "" || element.getClientRects().length === 0) continue;
    const one = luminance(channels(getComputedStyle(element).color));
    const two = luminance(groundOf(element));
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < 4.5) faint.push(text.slice(0, 40) + ": " + contrast.toFixed(2));
  }
  return faint;
})()`;
