'use strict';
// The page of a topology: moves the picture, searches, filters, and tells the story of what is chosen. Every foreign
// text is put in place by textContent; nothing is fetched and nothing is stored.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const view = document.getElementById('view');
  const svg = view.querySelector('svg');
  const story = document.getElementById('story');
  const status = document.getElementById('status');
  const found = document.getElementById('found');
  const search = document.getElementById('search');
  const selects = { networks: document.getElementById('network'), services: document.getElementById('service') };
  const nodes = new Map();
  for (const node of svg.querySelectorAll('[data-key]')) {
    const key = node.getAttribute('data-key');
    if (!nodes.has(key)) nodes.set(key, []);
    nodes.get(key).push(node);
  }
  const strokes = [...svg.querySelectorAll('[data-of]')].map((path) => [path, path.getAttribute('data-of').split('\n')]);
  const whole = { width: Number(svg.dataset.width), height: Number(svg.dataset.height) };

  // -- moving and sizing ---------------------------------------------------------------------------------------
  const at = { x: 0, y: 0, scale: 1 };
  const paper = window.matchMedia('print');
  const show = () => {
    if (paper.matches) {
      svg.setAttribute('viewBox', `0 0 ${whole.width} ${whole.height}`);
      return;
    }
    const width = view.clientWidth / at.scale;
    const height = view.clientHeight / at.scale;
    at.x = Math.min(Math.max(at.x, -width / 2), whole.width - width / 2);
    at.y = Math.min(Math.max(at.y, -height / 2), whole.height - height / 2);
    svg.setAttribute('viewBox', `${at.x} ${at.y} ${width} ${height}`);
  };
  const clamp = (scale) => Math.min(4, Math.max(0.08, scale));
  const zoom = (factor, x = view.clientWidth / 2, y = view.clientHeight / 2) => {
    const scale = clamp(at.scale * factor);
    at.x += x / at.scale - x / scale;
    at.y += y / at.scale - y / scale;
    at.scale = scale;
    show();
  };
  const fit = (box = { x: 0, y: 0, width: whole.width, height: whole.height }, most = 1.2) => {
    const scale = Math.min(view.clientWidth / (box.width + 40), view.clientHeight / (box.height + 40), most);
    at.scale = clamp(scale);
    at.x = box.x + box.width / 2 - view.clientWidth / at.scale / 2;
    at.y = box.y + box.height / 2 - view.clientHeight / at.scale / 2;
    show();
  };
  const begin = () => {
    // what matters is at the upper left: rather that readable than all of it tiny
    at.scale = Math.min(1.2, Math.max(0.72, view.clientWidth / whole.width));
    at.x = Math.min(0, (whole.width - view.clientWidth / at.scale) / 2);
    at.y = 0;
    show();
  };
  const bounds = (those) => {
    const boxes = those.map((node) => node.getBBox());
    const x = Math.min(...boxes.map((b) => b.x));
    const y = Math.min(...boxes.map((b) => b.y));
    const right = Math.max(...boxes.map((b) => b.x + b.width));
    const bottom = Math.max(...boxes.map((b) => b.y + b.height));
    return { x, y, width: right - x, height: bottom - y };
  };
  const reveal = (key) => {
    const there = nodes.get(key);
    if (!there) return;
    const box = bounds([there[0]]);
    const width = view.clientWidth / at.scale;
    const height = view.clientHeight / at.scale;
    if (box.x < at.x || box.x + Math.min(box.width, width) > at.x + width) at.x = box.x - Math.max(20, (width - box.width) / 2);
    if (box.y < at.y || box.y + Math.min(box.height, height) > at.y + height) at.y = box.y - Math.max(20, (height - box.height) / 2);
    show();
  };
  view.addEventListener('wheel', (event) => {
    event.preventDefault();
    const place = view.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - place.left, event.clientY - place.top);
  }, { passive: false });
  let drag = null;
  view.addEventListener('pointerdown', (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, moved: false };
  });
  view.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 5) return;
    if (!drag.moved) view.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY, moved: true };
    view.classList.add('moving');
    at.x -= dx / at.scale;
    at.y -= dy / at.scale;
    show();
  });
  let dragged = false;
  const drop = () => {
    dragged = Boolean(drag && drag.moved);
    drag = null;
    view.classList.remove('moving');
  };
  view.addEventListener('pointerup', drop);
  view.addEventListener('pointercancel', drop);
  const keys = {
    '+': () => zoom(1.25), '=': () => zoom(1.25), '-': () => zoom(0.8), 0: () => fit(),
    ArrowLeft: () => { at.x -= 80 / at.scale; show(); }, ArrowRight: () => { at.x += 80 / at.scale; show(); },
    ArrowUp: () => { at.y -= 80 / at.scale; show(); }, ArrowDown: () => { at.y += 80 / at.scale; show(); },
  };
  view.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = event.target.closest('[data-key]');
    if (node && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      choose(node.getAttribute('data-key'), { focus: true }, node);
    } else if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  view.addEventListener('focusin', (event) => {
    const node = event.target.closest('[data-key]');
    if (node && node.matches(':focus-visible')) reveal(node.getAttribute('data-key'));
  });
  view.addEventListener('click', (event) => {
    const node = event.target.closest('[data-key]');
    if (!dragged && node) choose(node.getAttribute('data-key'), {}, node);
  });
  document.getElementById('in').addEventListener('click', () => zoom(1.25));
  document.getElementById('out').addEventListener('click', () => zoom(0.8));
  document.getElementById('fit').addEventListener('click', () => fit());

  // -- the story of what is chosen -----------------------------------------------------------------------------
  let opener = null;
  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const choose = (key, { source = '', focus = false } = {}, by = null) => {
    const told = data.stories[key];
    if (!told) return;
    opener = by || opener;
    light(key, told);
    story.replaceChildren(...tell(key, told, source));
    story.hidden = false;
    show();
    reveal(key);
    story.scrollTop = 0;
    if (focus) story.querySelector('h2').focus();
  };
  const light = (key, told) => {
    const near = new Set([key, ...(told.near || [])]);
    for (const [other, those] of nodes) {
      for (const node of those) {
        node.classList.toggle('chosen', other === key);
        node.classList.toggle('near', other !== key && near.has(other));
        if (other === key) node.setAttribute('aria-current', 'true');
        else node.removeAttribute('aria-current');
      }
    }
    for (const [path, of] of strokes) path.classList.toggle('lit', of.every((one) => near.has(one)));
  };
  const tell = (key, told, source) => {
    const close = make('button', 'close', 'close');
    close.type = 'button';
    close.addEventListener('click', shut);
    const title = make('h2', told.title);
    title.tabIndex = -1;
    const parts = [close, make('small', told.kind), title];
    for (const fault of told.faults || []) {
      const text = make('div', undefined, 'fault');
      text.append(make('strong', `${fault.severity}: ${fault.text}`));
      for (const more of [fault.why, fault.hint && `fix: ${fault.hint}`]) if (more) text.append(make('div', more));
      if (fault.rule) text.append(make('small', `netdiag explain ${fault.rule}`));
      parts.push(text);
    }
    const through = (told.ways_of || []).flatMap((other) => data.stories[other].ways || []);
    const led = told.ways || through.filter((way) => way.to.endsWith(`:${told.dialled}`));
    if (led.length) parts.push(...ways(led, source));
    for (const [head, rows] of told.sections || []) parts.push(make('h3', head), list(rows));
    const near = (told.near || []).filter((other) => data.stories[other]);
    if (near.length) {
      const box = make('div', undefined, 'near-by');
      for (const other of near) box.append(opens(other));
      parts.push(make('h3', 'Hangs together with'), box);
    }
    return parts;
  };
  const opens = (key) => {
    const told = data.stories[key];
    const button = make('button');
    button.type = 'button';
    button.append(make('small', `${told.kind} `), make('span', told.title));
    button.addEventListener('click', () => choose(key, { focus: true }));
    return button;
  };
  const list = (rows) => {
    const box = make('dl');
    for (const [name, value] of rows) {
      if (name) box.append(make('dt', name));
      box.append(make('dd', value, name ? '' : 'wide'));
    }
    return box;
  };
  const ways = (all, source) => {
    const mine = all.filter((way) => source && way.from.some((number) => data.names[number] === source));
    const rest = all.filter((way) => !mine.includes(way));
    const parts = [];
    if (mine.length) parts.push(make('h3', `From ${source}`), ...mine.map((way) => one(way, source)));
    if (rest.length) parts.push(make('h3', mine.length ? 'From elsewhere' : 'Who reaches it'), ...rest.map((way) => one(way, '')));
    return parts;
  };
  const one = (way, source) => {
    const box = make('details', undefined, way.mark);
    box.open = Boolean(source);
    const head = make('summary');
    const from = way.from.map((number) => data.names[number]);
    const many = from.length > 3 ? `${from.slice(0, 3).join(', ')} and ${from.length - 3} more` : from.join(', ');
    head.append(make('strong', data.words[way.mark]), ` from ${many} by ${way.to}${way.advertised ? ' (advertised)' : ''}: `, make('em', way.end));
    box.append(head, make('div', way.because));
    for (const [number, hops] of way.hops) {
      if (!hops.length) continue;
      if (from.length === 1) {
        box.append(steps(hops));
        continue;
      }
      const inner = make('details');
      inner.open = from[number] === source;
      inner.append(make('summary', `hop by hop from ${from[number]}`), steps(hops));
      box.append(inner);
    }
    const told = new Set(way.hops.map(([number]) => number));
    const alike = from.filter((name, number) => !told.has(number));
    if (alike.length) box.append(make('small', `ends in the same way: ${alike.join(', ')}`));
    return box;
  };
  const steps = (hops) => {
    const box = make('ol');
    for (const number of hops) {
      const [kind, place, what, rules] = data.hops[number];
      const step = make('li');
      step.append(make('small', `${kind} in ${place}: `), what);
      if (rules) step.append(make('pre', rules));
      box.append(step);
    }
    return box;
  };
  const shut = () => {
    story.hidden = true;
    light('', {});
    show();
    if (opener && opener.isConnected) opener.focus();
  };
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-open]');
    if (button) choose(button.dataset.open, { source: button.dataset.source || '', focus: true }, button);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (!found.hidden) found.hidden = true;
      else if (!story.hidden) shut();
    } else if (event.key === '/' && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      search.focus();
    }
  });

  // -- searching and filtering ---------------------------------------------------------------------------------
  const texts = new Map();
  const text = (key) => {
    if (!texts.has(key)) {
      const told = data.stories[key];
      const rows = (told.sections || []).flatMap(([, pairs]) => pairs.flat());
      const others = [...(told.services || []), ...(told.networks || []), ...(told.faults || []).map((fault) => fault.text)];
      texts.set(key, [told.kind, told.title, ...rows, ...others].join('\n').toLowerCase());
    }
    return texts.get(key);
  };
  const wanted = (key) => Object.entries(selects).every(([name, select]) => {
    if (!select.value) return true;
    const told = data.stories[key];
    if (!told) return false;
    return (told[name] || []).includes(select.value) || (name === 'networks' && told.kind === 'network' && told.title === select.value);
  });
  const refresh = ({ move }) => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filtered = Object.values(selects).some((select) => select.value);
    const shown = [...nodes.keys()].filter(wanted);
    const hits = words.length ? shown.filter((key) => data.stories[key] && words.every((word) => text(key).includes(word))) : [];
    // what carries the word in its name comes before what mentions it somewhere
    const named = (key) => (words.every((word) => data.stories[key].title.toLowerCase().includes(word)) ? 0 : 1);
    hits.sort((a, b) => named(a) - named(b));
    const visible = new Set(shown);
    const hit = new Set(hits);
    for (const [key, those] of nodes) {
      for (const node of those) {
        const inside = [...node.querySelectorAll('[data-key]')].some((row) => visible.has(row.getAttribute('data-key')));
        node.classList.toggle('off', filtered && !visible.has(key) && !inside);
        node.classList.toggle('hit', hit.has(key));
      }
    }
    for (const [path, of] of strokes) path.classList.toggle('off', filtered && !of.every((key) => visible.has(key)));
    found.replaceChildren(...hits.slice(0, 50).map((key) => {
      const item = make('li');
      item.append(opens(key));
      item.firstChild.addEventListener('click', () => { found.hidden = true; });
      return item;
    }));
    found.hidden = !hits.length;
    status.textContent = words.length ? `${hits.length} found` : filtered ? `${shown.length} of ${nodes.size} shown` : '';
    if (move && filtered && shown.length) fit(bounds(shown.flatMap((key) => nodes.get(key))));
    else if (move && !filtered) begin();
    return hits;
  };
  search.addEventListener('input', () => refresh({ move: false }));
  search.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    const [first] = refresh({ move: false });
    if (first) {
      found.hidden = true;
      choose(first, { focus: true }, search);
    }
  });
  for (const select of Object.values(selects)) select.addEventListener('change', () => refresh({ move: true }));

  new ResizeObserver(show).observe(view);
  begin();
  paper.addEventListener('change', show);
  document.documentElement.dataset.ready = 'yes';
})();
