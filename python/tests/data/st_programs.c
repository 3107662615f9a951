/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Programs for an STM32L476 in the style of its maker's examples, one function each. A test writes into `which` which of
 * them runs; it leaves what it found in `out`. The clock is MSI at 4 MHz, as after a reset.
 */
#include <stm32l476xx.h>

volatile uint32_t which, out[4];
static volatile uint32_t ticks, more;
static uint32_t words[8] = {0x11223344, 0x55667788, 3, 4, 5, 6, 7, 8};
static volatile uint32_t copy[8];
static volatile uint16_t halves[8];
static volatile uint8_t bytes[16];

#define WAIT(condition) \
    while (!(condition)) { \
    }
#define DMA_CHANNEL(ccr, n, count, peripheral, memory) \
    (DMA1->CNDTR##n = (count), DMA1->CPAR##n = (uint32_t)(peripheral), DMA1->CMAR##n = (uint32_t)(memory), \
     DMA1->CCR##n = (ccr))

static void enable(void) {
    RCC->AHB1ENR |= RCC_AHB1ENR_DMA1EN | RCC_AHB1ENR_DMA2EN | RCC_AHB1ENR_CRCEN;
    RCC->AHB2ENR |= RCC_AHB2ENR_GPIOAEN | RCC_AHB2ENR_GPIOBEN | RCC_AHB2ENR_GPIOCEN | RCC_AHB2ENR_ADCEN;
    RCC->APB1ENR1 |= RCC_APB1ENR1_TIM2EN | RCC_APB1ENR1_TIM3EN | RCC_APB1ENR1_USART2EN | RCC_APB1ENR1_I2C1EN |
                     RCC_APB1ENR1_PWREN | RCC_APB1ENR1_LPTIM1EN;
    RCC->APB1ENR2 |= RCC_APB1ENR2_LPUART1EN;
    RCC->APB2ENR |= RCC_APB2ENR_SYSCFGEN | RCC_APB2ENR_SPI1EN;
}

static uint32_t now(void) { return *(volatile uint32_t *)0xE0001004; }
static void count_cycles(void) {
    *(volatile uint32_t *)0xE000EDFC |= 1u << 24;
    *(volatile uint32_t *)0xE0001000 |= 1;
}

/* ---- DMA */

static void dma_copies_words(void) {
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_PSIZE_1 | DMA_CCR1_MSIZE_1 | DMA_CCR1_EN, 1, 8,
                words, copy);
    WAIT(DMA1->ISR & DMA_ISR_TCIF1);
    out[0] = copy[0];
    out[1] = copy[7];
    out[2] = DMA1->CNDTR1;
    out[3] = DMA1->ISR;
}
static void dma_widens_bytes(void) {
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_MSIZE_1 | DMA_CCR1_EN, 2, 2, words, copy);
    WAIT(DMA1->ISR & DMA_ISR_TCIF2);
    out[0] = copy[0];
    out[1] = copy[1];
}
static void dma_narrows_words(void) {
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_PSIZE_1 | DMA_CCR1_EN, 3, 2, words, bytes);
    WAIT(DMA1->ISR & DMA_ISR_TCIF3);
    out[0] = bytes[0];
    out[1] = bytes[1];
}
static void dma_fills_from_one_word(void) {
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_MINC | DMA_CCR1_PSIZE_1 | DMA_CCR1_MSIZE_1 | DMA_CCR1_EN, 1, 4, words + 4, copy);
    WAIT(DMA1->ISR & DMA_ISR_TCIF1);
    out[0] = copy[3];
    DMA1->IFCR = DMA_IFCR_CGIF1;
    out[1] = DMA1->ISR;
}
void DMA1_CHANNEL1_IRQHandler(void) {
    if (DMA1->ISR & DMA_ISR_HTIF1) {
        ticks++;
        DMA1->IFCR = DMA_IFCR_CHTIF1;
    }
    if (DMA1->ISR & DMA_ISR_TCIF1) {
        more++;
        DMA1->IFCR = DMA_IFCR_CTCIF1;
    }
}
static void dma_interrupts_halfway_and_at_the_end(void) {
    NVIC_EnableIRQ(DMA1_CHANNEL1_IRQn);
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_HTIE | DMA_CCR1_TCIE | DMA_CCR1_EN, 1, 8, words,
                bytes);
    while (!more) __WFI();
    out[0] = ticks;
    out[1] = more;
}
static void dma_serves_the_higher_priority_first(void) {
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_EN, 1, 200, 0x08000000, 0x10000000);
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_PL_1 | DMA_CCR1_EN, 2, 8, words, bytes);
    WAIT(DMA1->ISR & DMA_ISR_TCIF2);
    out[0] = (DMA1->ISR & DMA_ISR_TCIF1) != 0;
}
static void dma_into_flash_is_an_error(void) {
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_DIR | DMA_CCR1_PINC | DMA_CCR1_MINC | DMA_CCR1_EN, 1, 8, 0x08010000, words);
    WAIT(DMA1->ISR & DMA_ISR_TEIF1);
    out[0] = DMA1->CCR1 & DMA_CCR1_EN;
    out[1] = DMA1->CNDTR1;
}
static void dma_keeps_the_count_of_a_channel_that_is_on(void) {
    DMA1->CSELR = 2u << DMA_CSELR_C7S_Pos;
    DMA_CHANNEL(DMA_CCR1_DIR | DMA_CCR1_EN, 7, 8, &USART2->TDR, words);
    DMA1->CNDTR7 = 3;
    out[0] = DMA1->CNDTR7;
}
static void uart_on(uint32_t cr3) {
    USART2->BRR = 4000000 / 9600;
    USART2->CR3 = cr3;
    USART2->CR1 = USART_CR1_TE | USART_CR1_RE | USART_CR1_UE;
}
static void dma_sends_over_the_uart(void) {
    static const char text[] = "moved";
    DMA1->CSELR = 2u << DMA_CSELR_C7S_Pos;
    uart_on(USART_CR3_DMAT);
    DMA_CHANNEL(DMA_CCR1_DIR | DMA_CCR1_MINC | DMA_CCR1_EN, 7, 5, &USART2->TDR, text);
    WAIT(DMA1->ISR & DMA_ISR_TCIF7);
    USART2->ICR = USART_ICR_TCCF;
    WAIT(USART2->ISR & USART_ISR_TC);
}
static void dma_receives_from_the_uart(void) {
    DMA1->CSELR = 2u << DMA_CSELR_C6S_Pos;
    uart_on(USART_CR3_DMAR);
    DMA_CHANNEL(DMA_CCR1_MINC | DMA_CCR1_EN, 6, 4, &USART2->RDR, bytes);
    WAIT(DMA1->ISR & DMA_ISR_TCIF6);
    for (int i = 0; i < 4; i++) out[i] = bytes[i];
}
static void dma_of_an_update_moves_a_pin(void) {
    static const uint32_t levels[4] = {0x20, 0, 0x20, 0};
    GPIOA->MODER = (GPIOA->MODER & ~GPIO_MODER_MODE5) | GPIO_MODER_MODE5_0;
    DMA1->CSELR = 4u << DMA_CSELR_C2S_Pos;
    DMA_CHANNEL(DMA_CCR1_DIR | DMA_CCR1_MINC | DMA_CCR1_TCIE | DMA_CCR1_PSIZE_1 | DMA_CCR1_MSIZE_1 | DMA_CCR1_EN, 2, 4,
                &GPIOA->ODR, levels);
    __disable_irq();
    NVIC_EnableIRQ(DMA1_CHANNEL2_IRQn);
    TIM2->ARR = 3999;
    TIM2->DIER = TIM_DIER_UDE;
    TIM2->CR1 = TIM_CR1_CEN;
    __WFI();
    out[0] = DMA1->ISR & DMA_ISR_TCIF2;
}
static void dma_takes_bytes_through_the_spi(void) {
    SPI1->CR2 = SPI_CR2_RXDMAEN | SPI_CR2_DS_0 | SPI_CR2_DS_1 | SPI_CR2_DS_2 | SPI_CR2_FRXTH;
    DMA1->CSELR = 1u << DMA_CSELR_C2S_Pos | 1u << DMA_CSELR_C3S_Pos;
    GPIOA->MODER = (GPIOA->MODER & ~GPIO_MODER_MODE4) | GPIO_MODER_MODE4_0;
    DMA_CHANNEL(DMA_CCR1_MINC | DMA_CCR1_EN, 2, 4, &SPI1->DR, bytes);
    DMA_CHANNEL(DMA_CCR1_DIR | DMA_CCR1_MINC | DMA_CCR1_EN, 3, 4, &SPI1->DR, words);
    SPI1->CR2 |= SPI_CR2_TXDMAEN;
    SPI1->CR1 = SPI_CR1_MSTR | SPI_CR1_SSM | SPI_CR1_SSI | SPI_CR1_SPE;
    WAIT(DMA1->ISR & DMA_ISR_TCIF2);
    for (int i = 0; i < 4; i++) out[i] = bytes[i];
}
static void dma_for_an_audio_block(void) {
    DMA2->CSELR = 1u << DMA_CSELR_C1S_Pos;
    DMA2->CNDTR1 = 1;
    DMA2->CCR1 = DMA_CCR1_EN;
}

/* ---- ADC: PC0 is channel 1, PA0 channel 5, PA1 channel 6 */

static void adc_on(void) {
    GPIOA->ASCR = 3;
    GPIOC->ASCR = 1;
    ADC123_COMMON->CCR |= ADC_CCR_CKMODE_0;
    ADC1->CR = 0;
    ADC1->CR = ADC_CR_ADVREGEN;
    for (volatile int i = 0; i < 40; i++) {
    }
    ADC1->CR = ADC_CR_ADVREGEN | ADC_CR_ADCAL;
    WAIT(!(ADC1->CR & ADC_CR_ADCAL));
    ADC1->CR = ADC_CR_ADVREGEN | ADC_CR_ADEN;
    WAIT(ADC1->ISR & ADC_ISR_ADRDY);
}
static void adc_start(void) { ADC1->CR = ADC_CR_ADVREGEN | ADC_CR_ADSTART; }
static uint32_t adc_one(uint32_t channel) {
    ADC1->SQR1 = channel << ADC_SQR1_SQ1_Pos;
    adc_start();
    WAIT(ADC1->ISR & ADC_ISR_EOC);
    return ADC1->DR;
}
static void adc_converts_once(void) {
    adc_on();
    out[0] = adc_one(5);
    out[1] = ADC1->ISR & (ADC_ISR_EOC | ADC_ISR_EOS | ADC_ISR_OVR);
    out[2] = ADC1->CR & ADC_CR_ADSTART;
}
static void adc_scans_three_channels(void) {
    adc_on();
    ADC1->SQR1 = 2 | 5 << ADC_SQR1_SQ1_Pos | 6 << ADC_SQR1_SQ2_Pos | 1 << ADC_SQR1_SQ3_Pos;
    ADC1->SMPR1 = 7 << ADC_SMPR1_SMP1_Pos | 7 << ADC_SMPR1_SMP5_Pos | 7 << ADC_SMPR1_SMP6_Pos;
    adc_start();
    for (int i = 0; i < 3; i++) {
        WAIT(ADC1->ISR & ADC_ISR_EOC);
        out[i] = ADC1->DR;
    }
    out[3] = ADC1->ISR & ADC_ISR_EOS;
}
static void adc_measures_its_reference(void) {
    ADC123_COMMON->CCR = ADC_CCR_VREFEN;
    adc_on();
    out[0] = adc_one(0);
}
static void adc_measures_the_temperature(void) {
    ADC123_COMMON->CCR = ADC_CCR_TSEN;
    adc_on();
    out[0] = adc_one(17);
}
static void adc_measures_a_third_of_vbat(void) {
    ADC123_COMMON->CCR = ADC_CCR_VBATEN;
    adc_on();
    out[0] = adc_one(18);
}
static void adc_of_eight_bits(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_RES_1;
    adc_on();
    out[0] = adc_one(5);
}
static void adc_aligns_left(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_ALIGN;
    adc_on();
    out[0] = adc_one(5);
}
static void adc_overruns(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_CONT;
    adc_on();
    ADC1->SQR1 = 1 | 5 << ADC_SQR1_SQ1_Pos | 6 << ADC_SQR1_SQ2_Pos;
    adc_start();
    WAIT(ADC1->ISR & ADC_ISR_OVR);
    out[0] = ADC1->DR; /* of the first: OVRMOD is clear */
}
static void adc_overwrites(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_OVRMOD;
    adc_on();
    ADC1->SQR1 = 1 | 5 << ADC_SQR1_SQ1_Pos | 6 << ADC_SQR1_SQ2_Pos;
    adc_start();
    WAIT(ADC1->ISR & ADC_ISR_EOS);
    out[0] = ADC1->DR;
    out[1] = (ADC1->ISR & ADC_ISR_OVR) != 0;
}
static void adc_waits_for_its_reader(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_AUTDLY;
    adc_on();
    ADC1->SQR1 = 1 | 5 << ADC_SQR1_SQ1_Pos | 6 << ADC_SQR1_SQ2_Pos;
    adc_start();
    for (volatile int i = 0; i < 100; i++) {
    }
    out[0] = ADC1->ISR & (ADC_ISR_EOS | ADC_ISR_OVR);
    out[1] = ADC1->DR;
    WAIT(ADC1->ISR & ADC_ISR_EOS);
    out[2] = ADC1->DR;
}
void ADC1_2_IRQHandler(void) {
    out[1] = ADC1->DR;
    ticks++;
}
static void adc_by_a_timer(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_EXTEN_0 | 11u << ADC_CFGR_EXTSEL_Pos;
    adc_on();
    ADC1->SQR1 = 5 << ADC_SQR1_SQ1_Pos;
    ADC1->IER = ADC_IER_EOCIE;
    NVIC_EnableIRQ(ADC1_2_IRQn);
    adc_start();
    TIM2->ARR = 3999;
    TIM2->CR2 = TIM_CR2_MMS_1;
    count_cycles();
    uint32_t from = now();
    TIM2->CR1 = TIM_CR1_CEN;
    WAIT(ticks == 5);
    out[0] = (now() - from) / 4000;
}
static void adc_watches_a_window(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_AWD1EN;
    ADC1->TR1 = 1000 | 2000 << ADC_TR1_HT1_Pos;
    adc_on();
    adc_one(6);
    out[0] = ADC1->ISR & ADC_ISR_AWD1;
    adc_one(5);
    out[1] = ADC1->ISR & ADC_ISR_AWD1;
}
static void adc_takes_its_time(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_CONT | ADC_CFGR_DMAEN;
    ADC1->SMPR1 = 7 << ADC_SMPR1_SMP5_Pos;
    adc_on();
    ADC1->SQR1 = 5 << ADC_SQR1_SQ1_Pos;
    DMA_CHANNEL(DMA_CCR1_PSIZE_0 | DMA_CCR1_MSIZE_0 | DMA_CCR1_EN, 1, 100, &ADC1->DR, halves);
    count_cycles();
    uint32_t from = now();
    adc_start();
    WAIT(DMA1->ISR & DMA_ISR_TCIF1);
    out[0] = (now() - from) / 653;
    out[1] = halves[0];
    out[2] = ADC1->ISR & ADC_ISR_OVR;
}
static void adc_fills_a_ring(void) {
    ADC1->CFGR = ADC_CFGR_JQDIS | ADC_CFGR_CONT | ADC_CFGR_DMAEN | ADC_CFGR_DMACFG;
    ADC1->SMPR1 = 4 << ADC_SMPR1_SMP5_Pos | 4 << ADC_SMPR1_SMP6_Pos;
    adc_on();
    ADC1->SQR1 = 1 | 5 << ADC_SQR1_SQ1_Pos | 6 << ADC_SQR1_SQ2_Pos;
    NVIC_EnableIRQ(DMA1_CHANNEL1_IRQn);
    DMA_CHANNEL(DMA_CCR1_CIRC | DMA_CCR1_MINC | DMA_CCR1_PSIZE_0 | DMA_CCR1_MSIZE_0 | DMA_CCR1_TCIE | DMA_CCR1_HTIE |
                    DMA_CCR1_EN,
                1, 4, &ADC1->DR, halves);
    adc_start();
    while (more < 3) __WFI();
    out[0] = ticks;
    out[1] = halves[0];
    out[2] = halves[1];
    out[3] = ADC1->ISR & ADC_ISR_OVR;
}
static void adc_of_a_pin_that_is_not_connected(void) {
    adc_on();
    GPIOA->ASCR = 0;
    adc_one(5);
}
static void adc_without_its_regulator(void) {
    ADC123_COMMON->CCR = ADC_CCR_CKMODE_0;
    ADC1->CR = ADC_CR_ADEN;
}
static void adc_oversamples(void) { ADC1->CFGR2 = ADC_CFGR2_ROVSE; }
static void adc_injects(void) {
    adc_on();
    ADC1->CR = ADC_CR_ADVREGEN | ADC_CR_JADSTART;
}

/* ---- I2C: a device of sixteen bytes at 0x48 */

static void i2c_on(uint32_t cr1) {
    I2C1->TIMINGR = 0x00000E14; /* at 4 MHz 36 and 4 ticks a bit */
    I2C1->CR1 = cr1 | I2C_CR1_PE;
}
static void i2c_writes_and_stops(void) {
    i2c_on(0);
    I2C1->CR2 = 0x48 << 1 | 2 << I2C_CR2_NBYTES_Pos | I2C_CR2_AUTOEND | I2C_CR2_START;
    for (int i = 0; i < 2; i++) {
        WAIT(I2C1->ISR & I2C_ISR_TXIS);
        I2C1->TXDR = i ? 0xAB : 3;
    }
    WAIT(I2C1->ISR & I2C_ISR_STOPF);
    I2C1->ICR = I2C_ICR_STOPCF;
    out[0] = I2C1->ISR;
}
static void i2c_reads_behind_a_repeated_start(void) {
    i2c_on(0);
    I2C1->CR2 = 0x48 << 1 | 1 << I2C_CR2_NBYTES_Pos | I2C_CR2_START;
    WAIT(I2C1->ISR & I2C_ISR_TXIS);
    I2C1->TXDR = 5;
    WAIT(I2C1->ISR & I2C_ISR_TC);
    I2C1->CR2 = 0x48 << 1 | I2C_CR2_RD_WRN | 3 << I2C_CR2_NBYTES_Pos | I2C_CR2_AUTOEND | I2C_CR2_START;
    for (int i = 0; i < 3; i++) {
        WAIT(I2C1->ISR & I2C_ISR_RXNE);
        out[i] = I2C1->RXDR;
    }
    WAIT(I2C1->ISR & I2C_ISR_STOPF);
}
static void i2c_of_nobody_is_not_acknowledged(void) {
    i2c_on(0);
    I2C1->CR2 = 0x11 << 1 | 1 << I2C_CR2_NBYTES_Pos | I2C_CR2_AUTOEND | I2C_CR2_START;
    WAIT(I2C1->ISR & I2C_ISR_STOPF);
    out[0] = I2C1->ISR & (I2C_ISR_NACKF | I2C_ISR_BUSY);
}
static void i2c_reloads(void) {
    i2c_on(0);
    I2C1->CR2 = 0x48 << 1 | 1 << I2C_CR2_NBYTES_Pos | I2C_CR2_RELOAD | I2C_CR2_START;
    WAIT(I2C1->ISR & I2C_ISR_TXIS);
    I2C1->TXDR = 7;
    WAIT(I2C1->ISR & I2C_ISR_TCR);
    I2C1->CR2 = 0x48 << 1 | 1 << I2C_CR2_NBYTES_Pos | I2C_CR2_AUTOEND;
    WAIT(I2C1->ISR & I2C_ISR_TXIS);
    I2C1->TXDR = 0x77;
    WAIT(I2C1->ISR & I2C_ISR_STOPF);
}
static void i2c_stops_by_software(void) {
    i2c_on(0);
    I2C1->CR2 = 0x48 << 1 | I2C_CR2_RD_WRN | 1 << I2C_CR2_NBYTES_Pos | I2C_CR2_START;
    WAIT(I2C1->ISR & I2C_ISR_TC);
    out[0] = I2C1->RXDR;
    I2C1->CR2 |= I2C_CR2_STOP;
    WAIT(I2C1->ISR & I2C_ISR_STOPF);
    out[1] = I2C1->ISR & I2C_ISR_BUSY;
}
void I2C1_EV_IRQHandler(void) {
    if (I2C1->ISR & I2C_ISR_RXNE) bytes[ticks++] = (uint8_t)I2C1->RXDR;
    if (I2C1->ISR & I2C_ISR_STOPF) {
        I2C1->ICR = I2C_ICR_STOPCF;
        more = 1;
    }
}
static void i2c_by_interrupts(void) {
    i2c_on(I2C_CR1_RXIE | I2C_CR1_STOPIE);
    NVIC_EnableIRQ(I2C1_EV_IRQn);
    count_cycles();
    uint32_t from = now();
    I2C1->CR2 = 0x48 << 1 | I2C_CR2_RD_WRN | 4 << I2C_CR2_NBYTES_Pos | I2C_CR2_AUTOEND | I2C_CR2_START;
    WAIT(more);
    out[0] = (now() - from) / 200; /* ten bits, four times nine, one, and the way into the handler */
    out[1] = ticks;
    out[2] = bytes[3];
}
static void i2c_by_dma(void) {
    i2c_on(I2C_CR1_RXDMAEN);
    DMA1->CSELR = 3u << DMA_CSELR_C7S_Pos;
    DMA_CHANNEL(DMA_CCR1_MINC | DMA_CCR1_EN, 7, 4, &I2C1->RXDR, bytes);
    I2C1->CR2 = 0x48 << 1 | I2C_CR2_RD_WRN | 4 << I2C_CR2_NBYTES_Pos | I2C_CR2_AUTOEND | I2C_CR2_START;
    WAIT(I2C1->ISR & I2C_ISR_STOPF);
    for (int i = 0; i < 4; i++) out[i] = bytes[i];
}
static void i2c_of_ten_bits(void) {
    i2c_on(0);
    I2C1->CR2 = 0x248 | I2C_CR2_ADD10 | I2C_CR2_START;
}

/* ---- RTC by LSE */

static void rtc_on(uint32_t time, uint32_t date) {
    PWR->CR1 |= PWR_CR1_DBP;
    RCC->BDCR = RCC_BDCR_LSEON;
    WAIT(RCC->BDCR & RCC_BDCR_LSERDY);
    RCC->BDCR |= RCC_BDCR_RTCSEL_0 | RCC_BDCR_RTCEN;
    RTC->WPR = 0xCA;
    RTC->WPR = 0x53;
    RTC->ISR |= RTC_ISR_INIT;
    WAIT(RTC->ISR & RTC_ISR_INITF);
    RTC->TR = time;
    RTC->DR = date;
    RTC->ISR &= ~RTC_ISR_INIT;
    EXTI->IMR1 |= 1u << 18;
    EXTI->RTSR1 |= 1u << 18;
    NVIC_EnableIRQ(RTC_ALARM_IRQn);
}
void RTC_ALARM_IRQHandler(void) {
    out[ticks++ & 3] = RTC->TR;
    more = RTC->SSR;
    RTC->ISR &= ~(RTC_ISR_ALRAF | RTC_ISR_ALRBF);
    EXTI->PR1 = 1u << 18;
}
static void stop_until(uint32_t count) {
    PWR->CR1 = (PWR->CR1 & ~PWR_CR1_LPMS) | PWR_CR1_LPMS_1;
    SCB->SCR |= SCB_SCR_SLEEPDEEP_Msk;
    while (ticks < count) __WFI();
}
static void rtc_alarm_ends_stop_2(void) {
    rtc_on(0x125955, 0x26F129); /* Sunday, 29 November 2026 */
    RTC->ALRMAR = RTC_ALRMAR_MSK4 | 0x130005;
    RTC->CR |= RTC_CR_ALRAE | RTC_CR_ALRAIE;
    stop_until(1);
}
static void rtc_alarm_of_every_minute(void) {
    rtc_on(0x235830, 0x26F129);
    RTC->ALRMBR = RTC_ALRMBR_MSK4 | RTC_ALRMBR_MSK3 | RTC_ALRMBR_MSK2;
    RTC->CR |= RTC_CR_ALRBE | RTC_CR_ALRBIE;
    stop_until(3);
}
static void rtc_alarm_of_a_date(void) {
    rtc_on(0x235958, 0x263130); /* Monday, 30 November */
    RTC->ALRMAR = 1u << RTC_ALRMAR_DU_Pos | RTC_ALRMAR_MSK3 | RTC_ALRMAR_MSK2 | 0x01;
    RTC->CR |= RTC_CR_ALRAE | RTC_CR_ALRAIE;
    stop_until(1);
    out[1] = RTC->DR;
}
static void rtc_alarm_within_a_second(void) {
    rtc_on(0, 0x26F129);
    RTC->ALRMASSR = 15u << RTC_ALRMASSR_MASKSS_Pos | 127;
    RTC->ALRMAR = RTC_ALRMAR_MSK4 | RTC_ALRMAR_MSK3 | RTC_ALRMAR_MSK2 | RTC_ALRMAR_MSK1;
    RTC->CR |= RTC_CR_ALRAE | RTC_CR_ALRAIE;
    stop_until(2);
    out[2] = more;
}
static void rtc_alarm_is_locked_while_it_is_on(void) {
    rtc_on(0, 0x26F129);
    RTC->CR |= RTC_CR_ALRAE;
    RTC->ALRMAR = 0x55;
    out[0] = RTC->ALRMAR;
}
static void rtc_tamper(void) {
    rtc_on(0, 0x26F129);
    *(volatile uint32_t *)0x4000284C = 1;
}

/* ---- LPUART1 by LSE */

static void lpuart_on(uint32_t cr1, uint32_t cr3) {
    PWR->CR1 |= PWR_CR1_DBP;
    RCC->BDCR = RCC_BDCR_LSEON;
    WAIT(RCC->BDCR & RCC_BDCR_LSERDY);
    RCC->CCIPR = RCC_CCIPR_LPUART1SEL;
    LPUART1->BRR = 256 * 32768 / 9600;
    LPUART1->CR3 = cr3;
    LPUART1->CR1 = cr1 | USART_CR1_UE;
}
static void lpuart_sends_by_the_crystal(void) {
    lpuart_on(USART_CR1_TE, 0);
    for (const char *c = "slow"; *c; c++) {
        WAIT(LPUART1->ISR & USART_ISR_TXE);
        LPUART1->TDR = (uint32_t)*c;
    }
    WAIT(LPUART1->ISR & USART_ISR_TC);
}
void LPUART1_IRQHandler(void) { out[ticks++ & 3] = LPUART1->RDR; }
static void lpuart_ends_stop_2(void) {
    lpuart_on(USART_CR1_RE | USART_CR1_RXNEIE | USART_CR1_UESM, USART_CR3_WUS);
    NVIC_EnableIRQ(LPUART1_IRQn);
    stop_until(2);
}
static void lpuart_by_dma(void) {
    static const char text[] = "low";
    DMA2->CSELR = 4u << DMA_CSELR_C6S_Pos;
    lpuart_on(USART_CR1_TE, USART_CR3_DMAT);
    DMA2->CNDTR6 = 3;
    DMA2->CPAR6 = (uint32_t)&LPUART1->TDR;
    DMA2->CMAR6 = (uint32_t)text;
    DMA2->CCR6 = DMA_CCR1_DIR | DMA_CCR1_MINC | DMA_CCR1_EN;
    WAIT(DMA2->ISR & DMA_ISR_TCIF6);
    for (volatile int i = 0; i < 2000; i++) {
    }
}
static void lpuart_of_a_rate_too_high(void) {
    lpuart_on(0, 0);
    LPUART1->CR1 = 0;
    LPUART1->BRR = 0x2FF;
    LPUART1->CR1 = USART_CR1_TE | USART_CR1_UE;
}

/* ---- Timers: PA5 is TIM2_CH1 by AF1 */

static void pin_of_the_timer(uint32_t mode) {
    GPIOA->AFR[0] |= 1u << GPIO_AFRL_AFSEL5_Pos;
    GPIOA->MODER = (GPIOA->MODER & ~GPIO_MODER_MODE5) | GPIO_MODER_MODE5_1;
    TIM2->CCMR1 |= mode;
    TIM2->CCER = TIM_CCER_CC1E;
}
static void run_timer(uint32_t updates) {
    TIM2->SR = 0;
    TIM2->CR1 |= TIM_CR1_CEN;
    for (uint32_t i = 0; i < updates; i++) {
        WAIT(TIM2->SR & TIM_SR_UIF);
        TIM2->SR = ~TIM_SR_UIF;
    }
    TIM2->CR1 &= ~TIM_CR1_CEN;
}
static void tim_makes_a_pwm(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    pin_of_the_timer(TIM_CCMR1_OC1M_2 | TIM_CCMR1_OC1M_1);
    run_timer(3);
}
static void tim_takes_a_preloaded_width_with_the_next_update(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    TIM2->EGR = TIM_EGR_UG;
    pin_of_the_timer(TIM_CCMR1_OC1M_2 | TIM_CCMR1_OC1M_1 | TIM_CCMR1_OC1PE);
    TIM2->CR1 = TIM_CR1_CEN;
    TIM2->CCR1 = 3000;
    run_timer(3);
}
static void tim_takes_a_width_at_once(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    pin_of_the_timer(TIM_CCMR1_OC1M_2 | TIM_CCMR1_OC1M_1);
    TIM2->CR1 = TIM_CR1_CEN;
    TIM2->CCR1 = 3000;
    run_timer(3);
}
static void tim_takes_a_buffered_period_with_the_next_update(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    pin_of_the_timer(TIM_CCMR1_OC1M_2 | TIM_CCMR1_OC1M_1);
    TIM2->CR1 = TIM_CR1_ARPE | TIM_CR1_CEN;
    TIM2->ARR = 1999;
    run_timer(3);
}
static void tim_combines_two_channels(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    TIM2->CCR2 = 3000;
    TIM2->CCMR1 = TIM_CCMR1_OC2M_2 | TIM_CCMR1_OC2M_1 | TIM_CCMR1_OC2M_0; /* high from 3000 on */
    pin_of_the_timer(0x00010040);                                         /* OC1M = 1100: high below 1000, or the other */
    run_timer(3);
}
static void tim_joins_two_channels_by_and(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    TIM2->CCR2 = 3000;
    TIM2->CCMR1 = TIM_CCMR1_OC2M_2 | TIM_CCMR1_OC2M_1; /* high below 3000 */
    pin_of_the_timer(0x00010050);                      /* OC1M = 1101: high from 1000 on, and the other */
    run_timer(3);
}
static void tim_toggles_a_pin(void) {
    TIM2->ARR = 1999;
    TIM2->CCR1 = 500;
    pin_of_the_timer(TIM_CCMR1_OC1M_1 | TIM_CCMR1_OC1M_0);
    run_timer(4);
}
static void tim_of_one_pulse(void) {
    TIM2->ARR = 3999;
    TIM2->CCR1 = 1000;
    pin_of_the_timer(TIM_CCMR1_OC1M_2 | TIM_CCMR1_OC1M_1 | TIM_CCMR1_OC1M_0); /* high from 1000 on */
    TIM2->CR1 = TIM_CR1_OPM | TIM_CR1_CEN;
    WAIT(!(TIM2->CR1 & TIM_CR1_CEN));
    out[0] = TIM2->CNT;
}
static void tim_captures(void) { TIM2->CCMR1 = TIM_CCMR1_CC1S_0; }
static void tim_as_a_slave(void) { TIM2->SMCR = TIM_SMCR_SMS_2; }
static void tim_retriggers(void) { TIM2->CCMR1 = 0x00010000; }

/* ---- Others */

static void crc_of_nine_bytes(void) {
    CRC->CR = CRC_CR_RESET;
    for (const char *c = "123456789"; *c; c++) *(volatile uint8_t *)&CRC->DR = (uint8_t)*c;
    out[0] = CRC->DR;
}
static void crc_by_dma(void) {
    CRC->CR = CRC_CR_RESET;
    DMA_CHANNEL(DMA_CCR1_MEM2MEM | DMA_CCR1_DIR | DMA_CCR1_MINC, 1, 9, &CRC->DR, "123456789");
    DMA1->CCR1 |= DMA_CCR1_EN;
    WAIT(DMA1->ISR & DMA_ISR_TCIF1);
    out[0] = CRC->DR;
}
static void gpio_sets_and_resets(void) {
    GPIOA->MODER = (GPIOA->MODER & ~GPIO_MODER_MODE5) | GPIO_MODER_MODE5_0;
    GPIOA->BSRR = GPIO_BSRR_BS5;
    out[0] = GPIOA->IDR & GPIO_IDR_ID5;
    GPIOA->BRR = GPIO_BRR_BR5;
    out[1] = GPIOA->IDR & GPIO_IDR_ID5;
}
void EXTI0_IRQHandler(void) {
    EXTI->PR1 = 1;
    ticks++;
}
static void exti_by_software(void) {
    EXTI->IMR1 |= 1;
    NVIC_EnableIRQ(EXTI0_IRQn);
    EXTI->SWIER1 = 1;
    EXTI->SWIER1 = 1;
    out[0] = ticks;
}
static void clock_of_80_mhz(void) {
    FLASH->ACR = FLASH_ACR_LATENCY_4WS;
    RCC->PLLCFGR = RCC_PLLCFGR_PLLSRC_MSI | 40u << RCC_PLLCFGR_PLLN_Pos | RCC_PLLCFGR_PLLREN;
    RCC->CR |= RCC_CR_PLLON;
    WAIT(RCC->CR & RCC_CR_PLLRDY);
    RCC->CFGR = RCC_CFGR_SW_PLL;
    WAIT((RCC->CFGR & RCC_CFGR_SWS) == RCC_CFGR_SWS_PLL);
    TIM2->PSC = 79;
    TIM2->ARR = 99;
    TIM2->EGR = TIM_EGR_UG;
    count_cycles();
    uint32_t from = now();
    run_timer(1);
    out[0] = (now() - from) / 1000;
}
static void lptim_counts(void) {
    LPTIM1->CR = LPTIM_CR_ENABLE;
    LPTIM1->ARR = 999;
    count_cycles();
    uint32_t from = now();
    LPTIM1->CR |= LPTIM_CR_CNTSTRT;
    WAIT(LPTIM1->ISR & LPTIM_ISR_ARRM);
    out[0] = (now() - from) / 100;
}
static void touch_sensing(void) { *(volatile uint32_t *)0x40024000 = 1; }

#define PROGRAMS \
    P(dma_copies_words) P(dma_widens_bytes) P(dma_narrows_words) P(dma_fills_from_one_word) \
    P(dma_interrupts_halfway_and_at_the_end) P(dma_serves_the_higher_priority_first) P(dma_into_flash_is_an_error) \
    P(dma_keeps_the_count_of_a_channel_that_is_on) P(dma_sends_over_the_uart) P(dma_receives_from_the_uart) \
    P(dma_of_an_update_moves_a_pin) P(dma_takes_bytes_through_the_spi) P(dma_for_an_audio_block) \
    P(adc_converts_once) P(adc_scans_three_channels) P(adc_measures_its_reference) P(adc_measures_the_temperature) \
    P(adc_measures_a_third_of_vbat) P(adc_of_eight_bits) P(adc_aligns_left) P(adc_overruns) P(adc_overwrites) \
    P(adc_waits_for_its_reader) P(adc_by_a_timer) P(adc_watches_a_window) P(adc_takes_its_time) P(adc_fills_a_ring) \
    P(adc_of_a_pin_that_is_not_connected) P(adc_without_its_regulator) P(adc_oversamples) P(adc_injects) \
    P(i2c_writes_and_stops) P(i2c_reads_behind_a_repeated_start) P(i2c_of_nobody_is_not_acknowledged) P(i2c_reloads) \
    P(i2c_stops_by_software) P(i2c_by_interrupts) P(i2c_by_dma) P(i2c_of_ten_bits) \
    P(rtc_alarm_ends_stop_2) P(rtc_alarm_of_every_minute) P(rtc_alarm_of_a_date) P(rtc_alarm_within_a_second) \
    P(rtc_alarm_is_locked_while_it_is_on) P(rtc_tamper) \
    P(lpuart_sends_by_the_crystal) P(lpuart_ends_stop_2) P(lpuart_by_dma) P(lpuart_of_a_rate_too_high) \
    P(tim_makes_a_pwm) P(tim_takes_a_preloaded_width_with_the_next_update) P(tim_takes_a_width_at_once) \
    P(tim_takes_a_buffered_period_with_the_next_update) \
    P(tim_combines_two_channels) P(tim_joins_two_channels_by_and) P(tim_toggles_a_pin) \
    P(tim_of_one_pulse) P(tim_captures) P(tim_as_a_slave) P(tim_retriggers) \
    P(crc_of_nine_bytes) P(crc_by_dma) P(gpio_sets_and_resets) P(exti_by_software) P(clock_of_80_mhz) P(lptim_counts) \
    P(touch_sensing)

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
#define P(name) {#name, name},
    PROGRAMS
#undef P
};

int main(void) {
    enable();
    programs[which].run();
    return 0;
}
