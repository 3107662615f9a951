/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The registers of the ATmega128L that the node's program uses, by their addresses in the data
 * space: 2467X, register summary; bits: each chapter's register description.
 */
#ifndef SUNSEAL_ATMEGA128L_H
#define SUNSEAL_ATMEGA128L_H

#include "registers.h"

/* Crystals give no jitter that could be counted: what RAM held at power-on. 4 KB of it do not hold
 * 256 bits at 1/8 bit a byte (sunseal/random.h): 1280 bytes are 160 bits, a quarter more than the
 * 128 of a curve of 256 (FIPS 186-5, A.2: the generator's strength is the curve's at least). */
#define HAL_ENTROPY_SRAM
#define HAL_ENTROPY_SAMPLES_KEY 1280

/* In EEPROM, the first bytes left alone: 2467X, "Preventing EEPROM corruption", and the first
 * address is where a register that has lost its value points. The linker script agrees. */
#define HAL_EEPROM_START 0x80

/* Ports. */
#define PINA SUNSEAL_REG8(0x39)
#define DDRA SUNSEAL_REG8(0x3A)
#define PORTA SUNSEAL_REG8(0x3B)
#define PINB SUNSEAL_REG8(0x36)
#define DDRB SUNSEAL_REG8(0x37)
#define PORTB SUNSEAL_REG8(0x38)
#define PINC SUNSEAL_REG8(0x33)
#define DDRC SUNSEAL_REG8(0x34)
#define PORTC SUNSEAL_REG8(0x35)
#define PIND SUNSEAL_REG8(0x30)
#define DDRD SUNSEAL_REG8(0x31)
#define PORTD SUNSEAL_REG8(0x32)
#define PINE SUNSEAL_REG8(0x21)
#define DDRE SUNSEAL_REG8(0x22)
#define PORTE SUNSEAL_REG8(0x23)
#define DDRF SUNSEAL_REG8(0x61)
#define PORTF SUNSEAL_REG8(0x62)
#define DDRG SUNSEAL_REG8(0x64)
#define PORTG SUNSEAL_REG8(0x65)

/* External interrupts 4 to 7. */
#define EICRB SUNSEAL_REG8(0x5A)
#define EIMSK SUNSEAL_REG8(0x59)
#define EIFR SUNSEAL_REG8(0x58)

/* Sleep and reset. */
#define SREG SUNSEAL_REG8(0x5F)
#define MCUCR SUNSEAL_REG8(0x55)
#define MCUCSR SUNSEAL_REG8(0x54)
#define SE_IDLE 0x20       /* SE */
#define SE_POWER_SAVE 0x38 /* SE | SM1 | SM0 */
#define SE_POWER_DOWN 0x30 /* SE | SM1 */
#define RESET_CAUSES 0x1F

/* Timers 0 to 2. */
#define TIMSK SUNSEAL_REG8(0x57)
#define TIFR SUNSEAL_REG8(0x56)
#define TOIE0 0x01
#define TOIE2 0x40
#define OCIE0 0x02
#define OCIE1A 0x10
#define TOV0 0x01
#define TOV2 0x40
#define OCF0 0x02
#define OCF1A 0x10
#define TCCR0 SUNSEAL_REG8(0x53)
#define TCNT0 SUNSEAL_REG8(0x52)
#define OCR0 SUNSEAL_REG8(0x51)
#define ASSR SUNSEAL_REG8(0x50)
#define AS0 0x08
#define ASSR_BUSY 0x07      /* TCN0UB | OCR0UB | TCR0UB */
#define TIMER0_BY_1024 0x07 /* CS02 | CS01 | CS00 */
#define TCCR1B SUNSEAL_REG8(0x4E)
#define TCNT1 SUNSEAL_REG16(0x4C)
#define OCR1A SUNSEAL_REG16(0x4A)
#define TIMER1_CTC_BY_1024 0x0D /* WGM12 | CS12 | CS10 */
#define TCCR2 SUNSEAL_REG8(0x45)
#define TCNT2 SUNSEAL_REG8(0x44)
#define TIMER2_BY_1024 0x05 /* CS22 | CS20 */

/* EEPROM. */
#define EEAR SUNSEAL_REG16(0x3E)
#define EEDR SUNSEAL_REG8(0x3D)
#define EECR SUNSEAL_REG8(0x3C)
#define EERIE 0x08
#define EEMWE 0x04
#define EEWE 0x02
#define EERE 0x01

/* SPI. */
#define SPDR SUNSEAL_REG8(0x2F)
#define SPSR SUNSEAL_REG8(0x2E)
#define SPCR SUNSEAL_REG8(0x2D)
#define SPIF 0x80
#define SPI2X 0x01
#define SPIE 0x80
#define SPE 0x40
#define MSTR 0x10

/* USART0. */
#define UDR0 SUNSEAL_REG8(0x2C)
#define UCSR0A SUNSEAL_REG8(0x2B)
#define UCSR0B SUNSEAL_REG8(0x2A)
#define UBRR0L SUNSEAL_REG8(0x29)
#define UBRR0H SUNSEAL_REG8(0x90)
#define TXC 0x40
#define UDRE 0x20
#define U2X 0x02
#define TXEN 0x08

/* USART1. */
#define UDR1 SUNSEAL_REG8(0x9C)
#define UCSR1A SUNSEAL_REG8(0x9B)
#define UCSR1B SUNSEAL_REG8(0x9A)
#define UBRR1L SUNSEAL_REG8(0x99)
#define UBRR1H SUNSEAL_REG8(0x98)
#define RXC 0x80
#define RXEN 0x10
#define RXCIE 0x80

/* Comparator and converter. */
#define ACSR SUNSEAL_REG8(0x28)
#define ACD 0x80
#define ADMUX SUNSEAL_REG8(0x27)
#define ADCSRA SUNSEAL_REG8(0x26)
#define ADC SUNSEAL_REG16(0x24)
#define ADMUX_BANDGAP_BY_AVCC 0x5E /* REFS0 | MUX 11110 */
#define ADEN 0x80
#define ADSC 0x40
#define ADC_BY_64 0x06

#endif
