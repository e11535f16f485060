'use strict';
// The page of an analysis: tells the values at the pointer, filters and sorts connections, chooses colours. Every
// foreign text is put in place by textContent; nothing is fetched and nothing is stored.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const SVG = 'http://www.w3.org/2000/svg';

  // -- colours -------------------------------------------------------------------------------------------------
  const theme = document.getElementById('theme');
  const paint = () => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  };
  theme.addEventListener('change', paint);
  paint();

  // -- values at the pointer -----------------------------------------------------------------------------------
  const scaled = (value) => {
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let at = 0;
    let left = value;
    while (left >= 1000 && at < units.length - 1) { left /= 1000; at += 1; }
    return `${at === 0 || left >= 100 ? left.toFixed(0) : left.toFixed(1)} ${units[at]}`;
  };
  const plain = (value) => (value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3))));
  const wording = {
    '': plain, B: scaled, '/s': (value) => `${plain(value)}/s`, 'B/s': (value) => `${scaled(value)}/s`,
    ms: (value) => (value >= 1000 ? `${(value / 1000).toFixed(value < 10000 ? 2 : 1)} s` : `${Number(value.toPrecision(3))} ms`),
  };
  const clock = (ms) => {
    const text = new Date(ms).toISOString();
    const days = data.last - data.first > 86400000;
    return (days ? text.slice(0, 19).replace('T', ' ') : text.slice(11, 19)) + (data.length % 1000 ? text.slice(19, 23) : '');
  };
  const plots = [...document.querySelectorAll('.plot')].map((element) => ({
    element, chart: data.charts[element.dataset.figure], column: 0, row: 0, tip: null,
    pictures: [...element.querySelectorAll('svg')].map((svg) => {
      const [x, y, width, height] = svg.dataset.plot.split(' ').map(Number);
      const line = document.createElementNS(SVG, 'line');
      line.setAttribute('class', 'cross');
      line.setAttribute('y1', y);
      line.setAttribute('y2', y + height);
      line.setAttribute('visibility', 'hidden');
      svg.append(line);
      return { svg, line, x, y, width, height, whole: svg.viewBox.baseVal.width };
    }),
  })).filter((plot) => plot.chart);
  const seen = (plot) => plot.pictures.find(({ svg }) => svg.getClientRects().length > 0);
  const begin = (plot, column) => data.first
    + Math.ceil(Math.round((data.last - data.first) / data.length) / plot.chart.columns) * data.length * column;
  const shares = (share) => {
    for (const plot of plots) {
      for (const { line, x, width } of plot.pictures) {
        line.setAttribute('visibility', share === null ? 'hidden' : 'visible');
        if (share === null) continue;
        line.setAttribute('x1', x + share * width);
        line.setAttribute('x2', x + share * width);
      }
    }
  };
  const told = (plot) => {
    const { chart, column, row } = plot;
    const word = wording[chart.unit];
    const those = chart.rows ? chart.series.slice(row, row + 1) : chart.series;
    const known = those.filter(([, , values]) => values[column] !== null);
    return [clock(begin(plot, column)), known.map(([label, , values]) => [label, word(values[column])])];
  };
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  status.className = 'skip';
  document.body.append(status);
  const hide = () => {
    shares(null);
    for (const plot of plots) if (plot.tip) plot.tip.hidden = true;
  };
  const show = (plot, speak) => {
    const picture = seen(plot);
    if (!picture) return;
    hide();
    const { columns } = plot.chart;
    const share = Math.min(1, (begin(plot, plot.column + 0.5) - data.first) / (data.last - data.first));
    shares(share);
    if (!plot.tip) {
      plot.tip = document.createElement('div');
      plot.tip.className = 'tip';
      plot.tip.setAttribute('aria-hidden', 'true');
      plot.element.append(plot.tip);
    }
    const [time, lines] = told(plot);
    const head = document.createElement('b');
    head.textContent = time;
    plot.tip.replaceChildren(head, ...lines.map(([label, value]) => {
      const line = document.createElement('div');
      const [name, number] = [document.createElement('bdi'), document.createElement('span')];
      name.textContent = label;
      number.textContent = value;
      line.append(name, number);
      return line;
    }));
    plot.tip.hidden = false;
    const scale = plot.element.clientWidth / picture.whole;
    const at = (picture.x + share * picture.width) * scale;
    const room = plot.element.clientWidth - plot.tip.offsetWidth;
    plot.tip.style.left = `${Math.max(0, Math.min(room, plot.column > columns / 2 ? at - plot.tip.offsetWidth - 12 : at + 12))}px`;
    const down = plot.chart.rows ? (picture.y + (plot.row + 1) * (picture.height / plot.chart.series.length)) * scale : 4;
    plot.tip.style.top = `${down}px`;
    if (speak) status.textContent = `${time}: ${lines.map(([label, value]) => `${label} ${value}`).join(', ') || 'nothing'}`;
  };
  for (const plot of plots) {
    const { element, chart } = plot;
    element.addEventListener('pointermove', (event) => {
      const picture = seen(plot);
      if (!picture) return;
      const place = picture.svg.getBoundingClientRect();
      const scale = picture.whole / place.width;
      const share = ((event.clientX - place.left) * scale - picture.x) / picture.width;
      const down = ((event.clientY - place.top) * scale - picture.y) / picture.height;
      if (share < 0 || share >= 1 || (chart.rows && (down < 0 || down >= 1))) {
        hide();
        return;
      }
      const time = data.first + share * (data.last - data.first);
      plot.column = Math.min(chart.columns - 1, Math.floor((time - data.first) / (begin(plot, 1) - data.first)));
      plot.row = chart.rows ? Math.floor(down * chart.series.length) : 0;
      show(plot, false);
    });
    element.addEventListener('pointerleave', hide);
    element.addEventListener('blur', hide);
    element.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const far = event.shiftKey ? 10 : 1;
      const move = {
        ArrowLeft: [-far, 0], ArrowRight: [far, 0], Home: [-chart.columns, 0], End: [chart.columns, 0],
        ...(chart.rows ? { ArrowUp: [0, -1], ArrowDown: [0, 1] } : {}),
      }[event.key];
      if (event.key === 'Escape') hide();
      if (!move) return;
      event.preventDefault();
      plot.column = Math.max(0, Math.min(chart.columns - 1, plot.column + move[0]));
      plot.row = Math.max(0, Math.min(chart.series.length - 1, plot.row + move[1]));
      show(plot, true);
    });
  }

  // -- which of several charts ---------------------------------------------------------------------------------
  const radios = [...document.querySelectorAll('fieldset input[type="radio"]')];
  const choose = () => {
    for (const input of radios) document.getElementById(input.value).hidden = !input.checked;
  };
  for (const input of radios) input.addEventListener('change', choose);
  choose();

  // -- connections ---------------------------------------------------------------------------------------------
  const body = document.getElementById('connection-rows');
  if (body) {
    const rows = [...body.rows];
    const words = rows.map((row) => [...row.cells].map((cell) => `${cell.textContent} ${cell.firstChild?.title ?? ''}`).join(' ').toLowerCase());
    const filter = document.getElementById('filter');
    const troubled = document.getElementById('troubled');
    const shown = document.getElementById('shown');
    const sift = () => {
      const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      rows.forEach((row, number) => {
        const fits = wanted.every((word) => words[number].includes(word)) && (!troubled.checked || row.classList.contains('trouble'));
        row.hidden = !fits;
        count += fits ? 1 : 0;
      });
      shown.value = `${count.toLocaleString('en-US')} shown`;
    };
    filter.addEventListener('input', sift);
    troubled.addEventListener('change', sift);
    filter.form.addEventListener('submit', (event) => event.preventDefault());
    sift();
    const heads = [...document.querySelectorAll('#rows thead th')];
    heads.forEach((head, column) => {
      head.querySelector('button').addEventListener('click', () => {
        const isNumber = head.classList.contains('number');
        const now = head.getAttribute('aria-sort');
        const down = now ? now === 'ascending' : isNumber;
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const key = (row) => (isNumber ? row.cells[column].dataset.v : row.cells[column].textContent);
        const order = rows.map((row) => [key(row), row]).sort(([one], [other]) => {
          if (isNumber) {
            if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
            return down ? Number(other) - Number(one) : Number(one) - Number(other);
          }
          return (down ? -1 : 1) * one.localeCompare(other, 'en', { numeric: true });
        });
        body.append(...order.map(([, row]) => row));
      });
    });
  }
  document.documentElement.dataset.ready = 'yes';
})();
